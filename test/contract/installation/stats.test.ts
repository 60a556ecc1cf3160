import { expect } from 'vitest'
import { addSubscription, addUser } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'

scenarios('GET /admin/api/plans', [
  {
    name: '200 with eight fields of each plan, archived ones included, in their order',
    given: (w) => {
      w.change("update plans set archived = 1, price_stars = 100 where code = '3m'")
      w.change("update plans set price = 0 where code = '12m'")
    },
    request: { path: '/admin/api/plans?limit=1' },
    status: 200,
    headers: { link: null },
    body: [
      ['1m', '30 days', 30, 199, null, 1, false],
      ['3m', '90 days', 90, 549, 100, 2, true],
      ['6m', '180 days', 180, 999, null, 3, false],
      ['12m', '365 days', 365, 0, null, 4, false],
    ].map(([code, label, days, price, price_stars, sort_order, archived]) => ({
      code,
      label,
      days,
      price,
      currency: 'RUB',
      price_stars,
      sort_order,
      archived,
    })),
  },
])

const TRAFFIC = '/admin/api/traffic'
const KB = 1024

scenarios('GET /admin/api/traffic', [
  {
    name: '200 with nothing',
    given: (w) => {
      addUser(w, 7)
      addSubscription(w, 7)
    },
    request: { path: TRAFFIC },
    status: 200,
    body: { entries: [], up: 0, down: 0, total_fmt: '0 B' },
  },
  {
    name: '200 with the entries that have traffic, largest first, formatted in base 1024',
    given: (w) => {
      addUser(w, 7, { username: 'alice' })
      addUser(w, 8)
      const small = addSubscription(w, 8, { up_bytes: 1, node: 'gone', active: 0 })
      const large = addSubscription(w, 7, { up_bytes: 1536, down_bytes: 5 * KB ** 4 })
      const middle = addSubscription(w, 7, { down_bytes: 1023 })
      addSubscription(w, 7)
      return { small, middle, large }
    },
    request: { path: TRAFFIC },
    status: 200,
    body: ({ small, middle, large }: Record<string, string>) => ({
      entries: [
        {
          uuid: large,
          username: '@alice',
          node_label: 'Local',
          up: 1536,
          down: 5 * KB ** 4,
          up_fmt: '1.5 KB',
          down_fmt: '5.0 TB',
          total_fmt: '5.0 TB',
        },
        {
          uuid: middle,
          username: '@alice',
          node_label: 'Local',
          up: 0,
          down: 1023,
          up_fmt: '0 B',
          down_fmt: '1023 B',
          total_fmt: '1023 B',
        },
        {
          uuid: small,
          username: 'tg8',
          node_label: 'gone',
          up: 1,
          down: 0,
          up_fmt: '1 B',
          down_fmt: '0 B',
          total_fmt: '1 B',
        },
      ],
      up: 1537,
      down: 5 * KB ** 4 + 1023,
      total_fmt: '5.0 TB',
    }),
  },
  {
    name: '200 with what the core counts now',
    given: (w) => {
      addUser(w, 7)
      const uuid = addSubscription(w, 7, { up_bytes: 10 })
      w.node.counters.set(uuid, [5, 7])
      w.node.counters.set('00000000-0000-4000-8000-00000000dead', [999, 999])
    },
    request: { path: TRAFFIC },
    status: 200,
    effects: async (w, _given, { json }) => {
      expect([json.up, json.down, json.entries.length]).toEqual([15, 7, 1])
      expect((await w.admin(TRAFFIC)).json.up).toBe(15)
    },
  },
  {
    name: '200 with the stored totals when the node does not answer',
    given: (w) => {
      addUser(w, 7)
      addSubscription(w, 7, { up_bytes: 10 })
      w.node.failure = 'unreachable'
    },
    request: { path: TRAFFIC },
    status: 200,
    effects: (_w, _given, { json }) => expect(json.up).toBe(10),
  },
  {
    name: '200 with the 5000 largest of more',
    given: (w) => {
      for (let i = 0; i < 100; i++) addUser(w, 1000 + i)
      w.changeMany(
        "insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at, up_bytes) values (?, ?, 'de1', '1m', '2027-01-01T00:00:00', 'admin', '2026-01-01T00:00:00', ?)",
        Array.from({ length: 5010 }, (_, i) => [`row-${i + 1}`, 1000 + ((i + 1) % 100), i + 1]),
      )
    },
    request: { path: TRAFFIC },
    status: 200,
    effects: (_w, _given, { json }) => {
      expect(json.entries).toHaveLength(5000)
      expect([json.entries[0].up, json.entries[4999].up]).toEqual([5010, 11])
      // The sums are those of the same 5000.
      expect(json.up).toBe(((5010 + 11) * 5000) / 2)
    },
  },
  {
    name: '200 with a page of them, the sums of all, and the way to the next one',
    given: (w) => {
      addUser(w, 7)
      const uuids = [4, 1, 3, 3, 2].map((up) => addSubscription(w, 7, { up_bytes: up }))
      addSubscription(w, 7)
      return uuids
    },
    request: { path: `${TRAFFIC}?limit=2` },
    status: 200,
    headers: { 'x-total-count': '5', link: /^<.*cursor=[\w-]+>; rel="next"$/ },
    effects: async (w, [first, fifth, second, third, fourth], answer) => {
      const seen: string[] = []
      for (let page: typeof answer | null = answer; page; ) {
        expect([page.json.up, page.headers.get('x-total-count')]).toEqual([13, '5'])
        seen.push(...page.json.entries.map(({ uuid }: { uuid: string }) => uuid))
        const next: string | undefined = /<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1]
        page = next ? await w.admin(next) : null
      }
      // The later of two equal ones comes first.
      expect(seen).toEqual([first, third, second, fourth, fifth])
    },
  },
  {
    name: '200 for a further page without asking the nodes again',
    given: (w) => {
      addUser(w, 7)
      for (const up of [3, 2, 1]) addSubscription(w, 7, { up_bytes: up })
    },
    request: { path: `${TRAFFIC}?limit=1` },
    status: 200,
    effects: async (w, _given, answer) => {
      const asked = w.node.calls.length
      expect(asked).toBeGreaterThan(0)
      const next = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1] as string
      expect((await w.admin(next)).json.entries).toMatchObject([{ up: 2 }])
      expect(w.node.calls).toHaveLength(asked)
    },
  },
  ...['limit=0', 'limit=1001', 'limit=x', 'limit=-1'].map((query) => ({
    name: `400 for ${query}`,
    request: { path: `${TRAFFIC}?${query}` },
    status: 400,
    error: 'limit must be a whole number from 1 to 1000',
  })),
  {
    name: '400 for a cursor that is none of this list',
    request: { path: `${TRAFFIC}?cursor=nonsense` },
    status: 400,
    error: 'cursor is not one of this list',
  },
])
