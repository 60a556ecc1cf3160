/** Records as the admin API shows them, in the world that tests begin with. */

/** What user 7, alice, is given by an admin: a month on the local node. */
export const SUBSCRIPTION_VIEW = {
  tg_id: 7,
  username: 'alice',
  node: 'de1',
  node_label: 'Local',
  plan: '1m',
  plan_label: '30 days',
  expires_at: '2026-03-31T12:00:00',
  days_left: 30,
  active: true,
  held_at: null,
  source: 'admin',
  created_at: '2026-03-01T12:00:00',
  up: 0,
  down: 0,
}

/** User 7 in the listing, without anything. */
export const USER_VIEW = {
  tg_id: 7,
  username: null,
  created_at: '2026-03-01T12:00:00',
  note: null,
  banned_at: null,
  blocked_at: null,
  active: 0,
  held: 0,
  next_expiry: null,
  devices: 0,
}
