import { expect } from 'vitest'
import { addPayment, addSubscription, addUser, DAY, inSeconds } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const LIST = '/admin/api/subscriptions'
const PAYMENT = '0aaaaaaa-0000-4000-8000-00000000000a'
const uuids = (answer: { json: { uuid: string }[] }) => answer.json.map(({ uuid }) => uuid)

/** One subscription in each state, and others of other users, nodes and plans. */
function mixed(w: World) {
  addUser(w, 7, { username: 'Alice' })
  addUser(w, 71, { username: 'alan_b' })
  addUser(w, 8)
  return {
    active: addSubscription(w, 7),
    held: addSubscription(w, 7, { held_at: inSeconds(w, -9), plan: '3m' }),
    heldExpired: addSubscription(w, 71, {
      held_at: inSeconds(w, -9),
      expires_at: inSeconds(w, -5),
    }),
    expired: addSubscription(w, 71, { expires_at: inSeconds(w, 0), node: 'gone' }),
    revoked: addSubscription(w, 8, { active: 0 }),
    revokedExpired: addSubscription(w, 8, { active: 0, expires_at: inSeconds(w, -5) }),
  }
}

type Mixed = ReturnType<typeof mixed>

const FOUND: [query: string, found: (keyof Mixed)[]][] = [
  ['', ['revokedExpired', 'revoked', 'expired', 'heldExpired', 'held', 'active']],
  ['status=all', ['revokedExpired', 'revoked', 'expired', 'heldExpired', 'held', 'active']],
  ['status=active', ['active']],
  ['status=held', ['heldExpired', 'held']],
  ['status=expired', ['expired']],
  ['status=revoked', ['revokedExpired', 'revoked']],
  ['node=gone', ['expired']],
  ['node=DE1', []],
  ['plan=3m', ['held']],
  ['tg_id=7', ['held', 'active']],
  ['tg_id=9', []],
  ['tg_id=7&status=held', ['held']],
  ['status=held&status=active', ['heldExpired', 'held']],
  ['expires_before=2026-03-01T12:00:00', ['revokedExpired', 'heldExpired']],
  ['expires_before=2026-03-01T12:00:01', ['revokedExpired', 'expired', 'heldExpired']],
  ['q=7', ['expired', 'heldExpired', 'held', 'active']],
  ['q=71', ['expired', 'heldExpired']],
  ['q=9', []],
  ['q=al', ['expired', 'heldExpired', 'held', 'active']],
  ['q=ALI', ['held', 'active']],
  ['q=%40ali', ['held', 'active']],
  ['q=%20%40alan_%20', ['expired', 'heldExpired']],
  ['q=lice', []],
  ['q=%25', []],
  ['q=a%25', []],
  ['q=_lice', []],
  ['q=%00', []],
  ["q=' or 1=1 --", []],
  ['q=', ['revokedExpired', 'revoked', 'expired', 'heldExpired', 'held', 'active']],
  ['q=7&plan=3m', ['held']],
  ['order=asc', ['active', 'held', 'heldExpired', 'expired', 'revoked', 'revokedExpired']],
  [
    'sort=expires_at&order=asc',
    ['heldExpired', 'revokedExpired', 'expired', 'active', 'held', 'revoked'],
  ],
  ['limit=2', ['revokedExpired', 'revoked']],
  ['unknown=1', ['revokedExpired', 'revoked', 'expired', 'heldExpired', 'held', 'active']],
]

scenarios('GET /admin/api/subscriptions', [
  {
    name: '200 with every field of the one view of a subscription',
    given: (w) => {
      const { held } = mixed(w)
      w.clock.advance(3 * DAY * 1000)
      return held
    },
    request: { path: `${LIST}?status=held&plan=3m` },
    status: 200,
    headers: { 'x-total-count': '1', 'x-total-capped': null, link: null },
    body: (uuid: string) => [
      {
        uuid,
        tg_id: 7,
        username: 'Alice',
        node: 'de1',
        node_label: 'Local',
        plan: '3m',
        plan_label: '90 days',
        expires_at: '2026-03-31T12:00:00',
        days_left: 30,
        active: true,
        held_at: '2026-03-01T11:59:51',
        source: 'admin',
        created_at: '2026-03-01T12:00:00',
        up: 0,
        down: 0,
      },
    ],
  },
  {
    name: '200 with codes for the labels of what is gone, and no days below 0',
    given: (w) => {
      addUser(w, 7)
      addSubscription(w, 7, { node: 'n', plan: 'p', expires_at: inSeconds(w, -9 * DAY) })
    },
    request: { path: LIST },
    status: 200,
    effects: (_w, _given, { json }) =>
      expect(json[0]).toMatchObject({ node_label: 'n', plan_label: 'p', days_left: 0 }),
  },
  {
    name: '200 with what a payment paid for, by its whole id',
    given: (w) => {
      const { active, held } = mixed(w)
      addPayment(w, { id: PAYMENT, status: 'paid', subscription_uuid: active })
      w.change('update subscriptions set payment_id = ? where uuid = ?', PAYMENT, held)
      return [held, active]
    },
    request: { path: `${LIST}?q=${PAYMENT.toUpperCase()}` },
    status: 200,
    effects: async (w, found, answer) => {
      expect(uuids(answer)).toEqual(found)
      expect((await w.admin(`${LIST}?q=${PAYMENT.slice(0, -1)}b`)).json).toEqual([])
    },
  },
  ...FOUND.map(([query, found]) => ({
    name: `200 with ${found.length} of 6 for ?${query}`,
    given: mixed,
    request: { path: `${LIST}?${query}` },
    status: 200,
    effects: (_w: World, given: Mixed, answer: { json: { uuid: string }[]; headers: Headers }) => {
      const name = Object.fromEntries(Object.entries(given).map(([key, uuid]) => [uuid, key]))
      expect(uuids(answer).map((uuid) => name[uuid])).toEqual(found)
      const total = query === 'limit=2' ? 6 : found.length
      expect(answer.headers.get('x-total-count')).toBe(String(total))
    },
  })),
  {
    name: '200 with one for its whole uuid in any case',
    given: mixed,
    request: ({ held }) => ({ path: `${LIST}?q=${held.toUpperCase()}` }),
    status: 200,
    effects: (_w, { held }, answer) => expect(uuids(answer)).toEqual([held]),
  },
  {
    name: '200 with none for a part of a uuid',
    given: mixed,
    request: ({ held }) => ({ path: `${LIST}?q=${held.slice(0, 35)}` }),
    status: 200,
    body: [],
  },
  {
    name: "200 with the subscriptions of a token's user",
    given: (w) => ({
      ...mixed(w),
      token: w.rows('select token from users where tg_id = 7')[0].token,
    }),
    request: ({ token }) => ({ path: `${LIST}?q=${token}` }),
    status: 200,
    effects: (_w, { held, active }, answer) => expect(uuids(answer)).toEqual([held, active]),
  },
  ...(
    [
      ['limit=0', 'limit must be a whole number from 1 to 1000'],
      ['limit=1001', 'limit must be a whole number from 1 to 1000'],
      ['limit=-1', /^limit /],
      ['limit=1.5', /^limit /],
      ['limit=abc', /^limit /],
      ['limit=', /^limit /],
      ['limit=1e2', /^limit /],
      ['cursor=', 'cursor is not one of this list'],
      ['cursor=abc', 'cursor is not one of this list'],
      ['cursor=%F0%9F%92%A9', 'cursor is not one of this list'],
      [`cursor=${btoa('[1,2]')}`, 'cursor is not one of this list'],
      [`cursor=${btoa('["x",1.5]')}`, 'cursor is not one of this list'],
      [`cursor=${btoa('null')}`, 'cursor is not one of this list'],
      [`cursor=${btoa('{}')}`, 'cursor is not one of this list'],
      ['sort=uuid', 'sort must be one of created_at, expires_at'],
      ['sort=', /^sort /],
      ['order=up', 'order must be asc or desc'],
      ['order=DESC', 'order must be asc or desc'],
      ['status=gone', 'status must be one of active, held, expired, revoked, all'],
      ['status=', /^status /],
      ['tg_id=abc', /^tg_id /],
      ['tg_id=0', /^tg_id /],
      ['tg_id=9007199254740992', /^tg_id /],
      ['expires_before=2026-03-01', 'expires_before must be YYYY-MM-DDTHH:MM:SS'],
      ['expires_before=2026-03-01T12:00:00Z', 'expires_before must be YYYY-MM-DDTHH:MM:SS'],
      [`q=${'x'.repeat(257)}`, 'q is too long'],
    ] as [string, string | RegExp][]
  ).map(([query, error]) => ({
    name: `400 for ?${query.slice(0, 40)}`,
    given: mixed,
    request: { path: `${LIST}?${query}` },
    status: 400,
    error,
  })),
])
