/** What `npm run verify` asks of a database: each invariant, broken once, is named. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { redeemGift } from '#src/domain/subscriptions/gifts.ts'
import { addPayment, addSubscription, addUser } from '#test/support/rows/records.ts'
import { createShop, type Shop } from '#test/support/worlds/shop.ts'

const SINCE = '2020-01-01T00:00:00'
const OTHER = '00000000-0000-4000-8000-ffffffffffff'
let shop: Shop

/** A shop that sold a subscription by p1, renewed it by p2, and gave another one for a code. */
beforeEach(async () => {
  shop = await createShop()
  const { w } = shop
  addUser(w, 2)
  addPayment(w, { id: 'p1', tg_id: 1 })
  await confirmPayment(w.s, 'p1', { state: 'paid' })
  const [{ uuid }] = shop.sold()
  addPayment(w, { id: 'p2', tg_id: 1, renews_uuid: uuid })
  await confirmPayment(w.s, 'p2', { state: 'paid' })
  addPayment(w, { id: 'p3', tg_id: 1 })
  const body = { node: 'de1', plan: '1m' }
  const { code } = (await w.admin('/admin/api/gift-codes', { body })).json
  w.change("update gift_codes set code = 'GIFT' where code = ?", code)
  await redeemGift(w.s, 1, 'GIFT')
  addSubscription(w, 2, { uuid: OTHER })
  await w.s.background.idle()
  w.change('pragma foreign_keys = off')
})
afterEach(() => shop.w.close())

const faults = () => shop.w.faults(SINCE)

test('a shop that is as it must be has no fault', () => {
  expect(faults()).toEqual([])
})

const repeat = (table: string, columns: string, where: string) =>
  `insert into ${table} (${columns}) select ${columns.replace(/^id,/, "'again',")} from ${table} where ${where}`

const BROKEN: [fault: string, ...changes: string[]][] = [
  [
    'I1 payment for traffic is without its pack or bytes, or one for access has them: p2',
    "update payments set kind = 'traffic', pack = 'x' where id = 'p2'",
  ],
  [
    'I1 payment for traffic is without its pack or bytes, or one for access has them: p3',
    "update payments set extra_bytes = 1 where id = 'p3'",
  ],
  [
    'I1 payment for traffic gave a subscription: p1',
    "update payments set kind = 'traffic', pack = 'x', extra_bytes = 1 where id = 'p1'",
  ],
  [
    'I1 payment is paid, and nothing was given for it: p2',
    "update payments set subscription_uuid = null where id = 'p2'",
  ],
  [
    'I1 payment gave a subscription and a renewal of another one: p1',
    `update payments set subscription_uuid = (select uuid from subscriptions where gift_code = 'GIFT') where id = 'p1'`,
  ],
  [
    'I1 payment gave days to a subscription that it does not renew: p2',
    "update payments set renews_uuid = null where id = 'p2'",
  ],
  [
    'I1 payment gave something to another user: p2',
    `update payments set renews_uuid = '${OTHER}', subscription_uuid = '${OTHER}' where id = 'p2'`,
  ],
  [
    `I2 subscription comes from a payment that is not paid: ${OTHER}`,
    `update subscriptions set payment_id = 'p3' where uuid = '${OTHER}'`,
  ],
  [
    'I2 payment is not paid, and something was given for it: p3',
    "update payments set subscription_uuid = (select uuid from subscriptions where payment_id = 'p1') where id = 'p3'",
  ],
  ['I3 paid payment has no event: p2', "delete from events where data ->> '$.payment_id' = 'p2'"],
  [
    'I3 paid payment has no message: p2',
    "delete from outbox where payload ->> '$.payment_id' = 'p2'",
  ],
  [
    'I3 payment has more than one event: p1',
    repeat('events', 'id, event, data, created_at', "data ->> '$.payment_id' = 'p1'"),
  ],
  [
    'I3 payment has more than one message: p1',
    repeat(
      'outbox',
      'tg_id, kind, payload, next_try_at, created_at',
      "payload ->> '$.payment_id' = 'p1'",
    ),
  ],
  ['I3 paid payment is not in the audit log: p2', "delete from audit_log where object = 'p2'"],
  [
    'I6 gift code was redeemed more than once: GIFT',
    "update subscriptions set gift_code = 'GIFT', tg_id = 1 where gift_code is null and source = 'admin'",
  ],
  [
    'I6 gift code gave a subscription and does not count as used: GIFT',
    'update gift_codes set used_at = null, used_by = null',
  ],
  [
    'I6 gift code gave a subscription to another than who used it: GIFT',
    'update gift_codes set used_by = 2',
  ],
  [
    'I6 gift code has a time of use or a user, not both: GIFT',
    'update gift_codes set used_by = null',
  ],
  [
    `I7 subscription is held and revoked: ${OTHER}`,
    `update subscriptions set held_at = created_at, active = 0 where uuid = '${OTHER}'`,
  ],
  [
    `I7 subscription was held after it had run out: ${OTHER}`,
    `update subscriptions set held_at = '9000-01-01T00:00:00' where uuid = '${OTHER}'`,
  ],
  [
    `I7 subscription was held or resumed twice in a row: ${OTHER}`,
    ...Array<string>(2).fill(
      `insert into audit_log (at, ip, action, object) values ('${SINCE}', '', 'subscription.hold', '${OTHER}')`,
    ),
  ],
  [
    'I10 user who came by Telegram has another Telegram id: 2',
    'update users set telegram_id = 99 where tg_id = 2',
  ],
  [
    'I10 number of a customer was not counted: -4',
    "insert into users (tg_id, token, created_at) values (-4, 'x', '2026-01-01T00:00:00')",
  ],
  [
    'I10 link is the present one of a user and another one beside it: 2',
    "insert into user_tokens (token, tg_id, kind, created_at) select token, 2, 'former', created_at from users where tg_id = 1",
  ],
  [
    'I9 row of user_tags is not what the other tables say: vip 2',
    "insert into user_tags (tag, tg_id) values ('vip', 2)",
  ],
  [
    'I9 row of user_summaries is not what the other tables say: 2',
    "update user_summaries set last_end = '2000-01-01T00:00:00' where tg_id = 2",
  ],
  [
    'I9 row of tallies is not what the other tables say: devices ',
    "insert into tallies (name, slot, n) values ('devices', '', 1)",
  ],
  [
    'I9 row of ending_counts is not what the other tables say: 2000-01-01 de1 1m',
    "insert into ending_counts (day, node, plan, n) values ('2000-01-01', 'de1', '1m', 1)",
  ],
]

test.each(BROKEN)('%s', (fault, ...changes) => {
  for (const change of changes) shop.w.change(change)
  expect(faults()).toEqual([fault])
})

test('I8 row points nowhere', () => {
  shop.w.change("update subscriptions set tg_id = 99 where source = 'gift'")
  shop.w.change('update gift_codes set used_by = 99')
  expect(faults()).toEqual([
    expect.stringMatching(/^I8 row points nowhere: subscriptions \d+, to users$/),
  ])
})
