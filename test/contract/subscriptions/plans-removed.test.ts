/** Plans that are put in order, deleted or archived. */
import { describe, expect, test } from 'vitest'
import {
  addPayment,
  addSubscription,
  addUser,
  auditOf,
  inSeconds,
} from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const PLANS = '/admin/api/plans'
const NEW = { code: 'week', label: 'A week', days: 7, price: 59 }
const planOf = (w: World, code: string) => w.rows('select * from plans where code = ?', code)[0]

const codes = async (w: World, path: string) =>
  (await w.call(path)).json.map(({ code }: { code: string }) => code)

const reorder = (codes: unknown) => ({ path: `${PLANS}/reorder`, body: { codes } })
const ORDER = 'codes must name every plan exactly once'

scenarios('POST /admin/api/plans/reorder', [
  {
    name: '200 and the plans have the given order wherever they are shown, for good',
    given: (w) => w.change("update plans set archived = 1 where code = '6m'"),
    request: reorder(['12m', '1m', '6m', '3m']),
    status: 200,
    body: { ok: true },
    effects: async (w) => {
      expect(await codes(w, '/api/plans')).toEqual(['12m', '1m', '3m'])
      const listed = (await w.admin(PLANS)).json.map((plan: { code: string }) => plan.code)
      expect(listed).toEqual(['12m', '1m', '6m', '3m'])
      expect(auditOf(w)).toEqual(['plan.reorder'])
      expect((await w.admin(PLANS, { body: NEW })).json.sort_order).toBe(5)
    },
  },
  ...[
    ['an omission', ['1m', '3m', '6m'], ORDER],
    ['an archived one left out', ['1m', '3m', '12m'], ORDER],
    ['a duplicate', ['1m', '3m', '6m', '12m', '1m'], ORDER],
    ['a duplicate for an omission', ['1m', '3m', '6m', '1m'], ORDER],
    ['an unknown code', ['1m', '3m', '6m', 'nope'], ORDER],
    ['one too many', ['1m', '3m', '6m', '12m', 'nope'], ORDER],
    ['a code in other case', ['1M', '3m', '6m', '12m'], ORDER],
    ['an empty list', [], 'codes must not be empty'],
    ['a number among them', ['1m', '3m', '6m', 12], /^codes\.3 /],
    ['a string', '1m', 'codes must be a list of plan codes'],
    ['null', null, 'codes must be a list of plan codes'],
    ['nothing', undefined, /^codes /],
  ].map(([what, order, error]) => ({
    name: `400 for ${what}`,
    given: (w: World) => w.change("update plans set archived = 1 where code = '6m'"),
    request: reorder(order),
    status: 400,
    error: error as string | RegExp,
  })),
])

const remove = (code: string): Scenario['request'] => ({
  path: `${PLANS}/${code}`,
  method: 'DELETE',
})

const gift = (w: World, more: Record<string, string> = {}) => {
  const row = { code: 'A', node: 'de1', plan: '3m', created_at: inSeconds(w, 0), ...more }
  w.change(
    `insert into gift_codes (${Object.keys(row).join(', ')}) values (${Object.keys(row)
      .map(() => '?')
      .join(', ')})`,
    ...Object.values(row),
  )
}

/** What keeps a plan, and what does not. */
const USES: [name: string, given: (w: World) => void, archived: boolean][] = [
  ['nothing', () => {}, false],
  ['what belongs to another plan', (w) => addPayment(w), false],
  ['a running subscription', (w) => void addSubscription(w, 7, { plan: '3m' }), true],
  ['a revoked subscription', (w) => void addSubscription(w, 7, { plan: '3m', active: 0 }), true],
  ['a pending payment', (w) => addPayment(w, { plan: '3m' }), true],
  ['a failed payment', (w) => addPayment(w, { plan: '3m', status: 'failed' }), true],
  ['an unused gift code', (w) => gift(w), true],
  ['an unused gift code with time left', (w) => gift(w, { expires_at: inSeconds(w, 1) }), true],
  ['a used gift code', (w) => gift(w, { used_at: inSeconds(w, -1) }), false],
  ['a revoked gift code', (w) => gift(w, { revoked_at: inSeconds(w, -1) }), false],
  ['a gift code that ran out', (w) => gift(w, { expires_at: inSeconds(w, 0) }), false],
]

scenarios('DELETE /admin/api/plans/{code}', [
  ...USES.map(([name, use, archived]) => ({
    name: `200 and the plan is ${archived ? 'archived' : 'gone'} with ${name}`,
    given: (w: World) => {
      addUser(w, 7)
      use(w)
    },
    request: remove('3m'),
    status: 200,
    body: { ok: true, archived },
    effects: async (w: World) => {
      expect(planOf(w, '3m')?.archived).toBe(archived ? 1 : undefined)
      expect(await codes(w, '/api/plans')).toEqual(['1m', '6m', '12m'])
      expect(w.rows('select action, object from audit_log')).toEqual([
        { action: archived ? 'plan.archive' : 'plan.delete', object: '3m' },
      ])
    },
  })),
  {
    name: '200 and nothing changes for an archived one in use',
    given: (w) => {
      w.change("update plans set archived = 1 where code = '3m'")
      addPayment(w, { plan: '3m' })
    },
    request: remove('3m'),
    status: 200,
    body: { ok: true, archived: true },
    effects: (w) => expect(auditOf(w)).toEqual([]),
  },
  {
    name: '200 and an archived one that nothing uses is gone',
    given: (w) => w.change("update plans set archived = 1 where code = '3m'"),
    request: remove('3m'),
    status: 200,
    body: { ok: true, archived: false },
    effects: (w) => expect(planOf(w, '3m')).toBeUndefined(),
  },
  {
    name: '200 and the last one is archived: without any, the next start would bring the first four',
    given: (w) => w.change("delete from plans where code <> '3m'"),
    request: remove('3m'),
    status: 200,
    body: { ok: true, archived: true },
  },
  {
    name: '404 for an unknown plan',
    request: remove('nope'),
    status: 404,
    error: 'plan not found',
  },
])

test.each(['__proto__', 'constructor', 'prototype'])(
  '400 for the code %s, whose price no request could name',
  async (code) => {
    const w = await createWorld()
    const answer = await w.admin(PLANS, { raw: JSON.stringify(NEW).replace('week', code) })
    expect([answer.status, answer.json.error]).toEqual([
      400,
      'code is a name that JSON objects keep for themselves',
    ])
    w.close()
  },
)

describe('an archived plan', () => {
  test('refuses grants and gift codes', async () => {
    const w = await createWorld()
    await w.admin(`${PLANS}/3m`, { method: 'PATCH', body: { archived: true } })
    const order = { node: 'de1', plan: '3m' }
    for (const [path, body] of [
      ['/admin/api/users/7/grant', order],
      ['/admin/api/gift-codes', order],
      ['/admin/api/users/bulk', { action: 'grant', tg_ids: [7], ...order }],
    ] as const) {
      const { status, json } = await w.admin(path, { body })
      expect([path, status, json]).toEqual([path, 400, { error: 'plan is archived' }])
    }
    w.close()
  })

  test('deleted while it is granted is either gone before, or archived', async () => {
    for (const first of ['grant', 'delete']) {
      const w = await createWorld()
      const grant = () => w.admin('/admin/api/users/7/grant', { body: { node: 'de1', plan: '3m' } })
      const drop = () => w.admin(`${PLANS}/3m`, { method: 'DELETE' })
      const acts = first === 'grant' ? [grant, drop] : [drop, grant]
      await Promise.all(acts.map((act) => act()))
      await w.s.background.idle()
      const granted = w.rows('select count(*) as n from subscriptions')[0].n
      expect(planOf(w, '3m')?.archived).toBe(granted === 1 ? 1 : undefined)
      w.close()
    }
  })
})
