/** Traffic packs as admins manage them: added, changed, put in order, deleted or archived. */
import { expect } from 'vitest'
import { addPayment, addUser, auditOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const PACKS = '/admin/api/traffic-packs'
const NEW = { code: '50gb', label: '50 GB', gb: 50, price: 99 }
const VIEW = { ...NEW, currency: 'RUB', price_stars: null, sort_order: 1, archived: false }

const add = (w: World, code: string, more: Record<string, string | number> = {}) => {
  const row = { code, label: code, gb: 10, price: 5, sort_order: 1, ...more }
  w.change(
    `insert into traffic_packs (${Object.keys(row).join(', ')}) values (${Object.keys(row)
      .map(() => '?')
      .join(', ')})`,
    ...Object.values(row),
  )
}
const three = (w: World) => {
  for (const [at, code] of ['a', 'b', 'c'].entries()) add(w, code, { sort_order: at + 1 })
}
const packOf = (w: World, code: string) =>
  w.rows('select * from traffic_packs where code = ?', code)[0]
const codes = async (w: World) =>
  (await w.admin(PACKS)).json.map(({ code }: { code: string }) => code)

scenarios('GET /admin/api/traffic-packs', [
  { name: '200 and none at first', request: { path: PACKS }, status: 200, body: [] },
  {
    name: '200 with all in their order, archived ones too',
    given: (w) => {
      add(w, 'late', { sort_order: 9 })
      add(w, '50gb', { label: '50 GB', gb: 50, price: 99, price_stars: 60, archived: 1 })
    },
    request: { path: PACKS },
    status: 200,
    effects: async (w) => {
      const [first, last] = (await w.admin(PACKS)).json
      expect(first).toEqual({ ...VIEW, price_stars: 60, archived: true })
      expect(last.code).toBe('late')
    },
  },
])

const BAD: [body: Record<string, unknown>, error: string][] = [
  [{ label: '' }, 'label must not be empty'],
  [{ label: 'a\nb' }, 'label must be one line without control characters'],
  ...[0, -1, 1.5, '50', 1_000_001, null].map((gb): [Record<string, unknown>, string] => [
    { gb },
    'gb must be a whole number from 1 to 1000000',
  ]),
  ...[-1, 1.5, '59', null].map((price): [Record<string, unknown>, string] => [
    { price },
    'price must be a whole number from 0 to 1000000000',
  ]),
  [{ price_stars: 0 }, 'price_stars must be a whole number from 1 to 1000000'],
  [{ sort_order: -1 }, 'sort_order must be a whole number from 0 to 1000000'],
]

scenarios('POST /admin/api/traffic-packs', [
  {
    name: '200 with the pack, at the end',
    given: three,
    request: { path: PACKS, body: NEW },
    status: 200,
    body: { ...VIEW, sort_order: 4 },
    effects: async (w) => {
      expect(await codes(w)).toEqual(['a', 'b', 'c', '50gb'])
      expect(w.rows('select action, object, detail from audit_log')).toEqual([
        { action: 'pack.create', object: '50gb', detail: 'gb=50 price=99' },
      ])
      // No plan, and nothing that visitors are shown.
      expect((await w.call('/api/plans')).text).not.toContain('50gb')
    },
  },
  {
    name: '200 with every field as given, and unknown ones ignored',
    request: {
      path: PACKS,
      body: { ...NEW, label: ' 50 GB ', price_stars: 60, sort_order: 0, archived: true },
    },
    status: 200,
    body: { ...VIEW, price_stars: 60, sort_order: 0 },
  },
  {
    name: '400 when the code is taken, by an archived one too',
    given: (w) => add(w, '50gb', { archived: 1 }),
    request: { path: PACKS, body: NEW },
    status: 400,
    error: 'traffic pack code is taken',
  },
  ...(['code', 'label', 'gb', 'price'] as const).map((key) => ({
    name: `400 without ${key}`,
    request: { path: PACKS, body: { ...NEW, [key]: undefined } },
    status: 400,
    error: `${key} is missing or of the wrong type`,
  })),
  ...[{ code: 'a b' }, { code: '__proto__' }].map((bad) => ({
    name: `400 for ${JSON.stringify(bad)}`,
    request: { path: PACKS, body: { ...NEW, ...bad } },
    status: 400,
    error: /^code /,
  })),
  ...BAD.map(([bad, error]) => ({
    name: `400 for ${JSON.stringify(bad)}`,
    request: { path: PACKS, body: { ...NEW, ...bad } },
    status: 400,
    error,
  })),
])

const edit = (code: string, body: unknown): Scenario['request'] => ({
  path: `${PACKS}/${code}`,
  method: 'PATCH',
  body,
})
const given = (w: World) => add(w, '50gb', { label: '50 GB', gb: 50, price: 99 })

scenarios('PATCH /admin/api/traffic-packs/{code}', [
  ...[
    { label: 'More' },
    { gb: 60 },
    { price: 0 },
    { price_stars: 7 },
    { sort_order: 9 },
    { archived: true },
  ].map((body) => ({
    name: `200 with the pack after ${JSON.stringify(body)}`,
    given,
    request: edit('50gb', body),
    status: 200,
    body: { ...VIEW, ...body },
    effects: (w: World) =>
      expect(auditOf(w).filter((action) => action.startsWith('pack'))).toEqual(['pack.edit']),
  })),
  {
    name: '200 and it is no longer sold for Stars',
    given: (w) => add(w, '50gb', { label: '50 GB', gb: 50, price: 99, price_stars: 7 }),
    request: edit('50gb', { price_stars: null }),
    status: 200,
    body: VIEW,
  },
  {
    name: '200 and nothing changes for nothing',
    given,
    request: edit('50gb', { unknown: 1 }),
    status: 200,
    body: VIEW,
    effects: (w) => expect(auditOf(w)).toEqual([]),
  },
  ...BAD.map(([bad, error]) => ({
    name: `400 for ${JSON.stringify(bad)}`,
    given,
    request: edit('50gb', bad),
    status: 400,
    error,
  })),
  {
    name: '404 for an unknown one',
    request: edit('nope', { price: 1 }),
    status: 404,
    error: 'traffic pack not found',
  },
])

const reorder = (order: unknown) => ({ path: `${PACKS}/reorder`, body: { codes: order } })
const ORDER = 'codes must name every pack exactly once'

scenarios('POST /admin/api/traffic-packs/reorder', [
  {
    name: '200 and the packs have the given order',
    given: three,
    request: reorder(['c', 'a', 'b']),
    status: 200,
    body: { ok: true },
    effects: async (w) => {
      expect(await codes(w)).toEqual(['c', 'a', 'b'])
      expect(auditOf(w)).toEqual(['pack.reorder'])
    },
  },
  ...[
    ['an omission', ['a', 'b'], ORDER],
    ['a duplicate', ['a', 'b', 'c', 'a'], ORDER],
    ['an unknown code', ['a', 'b', 'nope'], ORDER],
    ['an empty list', [], 'codes must not be empty'],
    ['a string', 'a', 'codes must be a list of pack codes'],
  ].map(([what, order, error]) => ({
    name: `400 for ${what}`,
    given: three,
    request: reorder(order),
    status: 400,
    error: error as string,
  })),
])

const remove = (code: string): Scenario['request'] => ({
  path: `${PACKS}/${code}`,
  method: 'DELETE',
})
const pay = (w: World, more: Record<string, string>) => {
  addUser(w, 7)
  addPayment(w, { tg_id: 7, kind: 'traffic', extra_bytes: 1, days: 0, ...more })
}

scenarios('DELETE /admin/api/traffic-packs/{code}', [
  ...(
    [
      ['nothing', () => {}, false],
      ['a payment for another one', (w) => pay(w, { pack: 'other' }), false],
      ['a pending payment', (w) => pay(w, { pack: '50gb' }), true],
      ['a failed payment', (w) => pay(w, { pack: '50gb', status: 'failed' }), true],
    ] as [string, (w: World) => void, boolean][]
  ).map(([what, use, archived]) => ({
    name: `200 and the pack is ${archived ? 'archived' : 'gone'} with ${what}`,
    given: (w: World) => {
      given(w)
      use(w)
    },
    request: remove('50gb'),
    status: 200,
    body: { ok: true, archived },
    effects: (w: World) => {
      expect(packOf(w, '50gb')?.archived).toBe(archived ? 1 : undefined)
      expect(auditOf(w)).toEqual([archived ? 'pack.archive' : 'pack.delete'])
    },
  })),
  {
    name: '200 and nothing changes for an archived one in use',
    given: (w) => {
      add(w, '50gb', { archived: 1 })
      pay(w, { pack: '50gb' })
    },
    request: remove('50gb'),
    status: 200,
    body: { ok: true, archived: true },
    effects: (w) => expect(auditOf(w)).toEqual([]),
  },
  {
    name: '404 for an unknown one',
    request: remove('nope'),
    status: 404,
    error: 'traffic pack not found',
  },
])
