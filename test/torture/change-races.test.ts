/** Changes of plan and server asked for at once in four processes, raced with a renewal's money: each counts once, in one order or the other. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { inParallel, type Server } from '#test/support/drivers/process.ts'
import { count, yookassaEnvironment } from '#test/support/drivers/shop-process.ts'
import {
  ENGINES,
  expectSound,
  seeded,
  useAreas,
  useEngines,
} from '#test/support/drivers/torture.ts'
import { type FakeSystem, startFakeSystem } from '#test/support/fakes/system.ts'
import { until } from '#test/support/labs/lab.ts'

const area = useAreas()
const on = useEngines()
const CUSTOMERS = process.env.FULL === '1' ? 2000 : 200

let provider: FakeSystem | undefined
afterEach(() => provider?.close())

const DAY_MS = 86_400_000
const NODES = ['n1', 'n2', 'n3']
const uuidOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const tokenOf = (n: number) => `token-of-${n}-`.padEnd(43, 'x')
const stamp = (ms: number) => new Date(ms).toISOString().slice(0, 19)

test.each(ENGINES)(
  `%s: ${CUSTOMERS} customers change plan and server while a renewal is paid`,
  async (engine) => {
    const random = seeded(Number(process.env.SEED ?? 1))
    provider = await startFakeSystem(({ path }) => {
      const amount = { value: '300.00', currency: 'RUB' }
      const id = path.split('/').at(-1)
      return { status: 200, json: { id, status: 'succeeded', paid: true, amount, test: false } }
    })
    const environment = yookassaEnvironment(`${provider.url}/v3`)
    const a = area({
      ...environment,
      ...{ PAYMENTS_ENABLED: 'true', LOG_LEVEL: 'info' },
      ...(await on(engine)),
    })
    const servers: Server[] = []
    for (const runtime of ['node', 'bun', 'node', 'bun'] as const) {
      servers.push(await a.startServer({ runtime, entry: `entry/${runtime}.ts` }))
    }
    const at = stamp(Date.now())
    // 10 a day, and 20 for who may have 7 devices.
    a.write("update plans set price = 300, days = 30 where code = '1m'")
    a.write("update plans set price = 1800, days = 90, hwid_limit = 7 where code = '3m'")
    for (const [i, code] of NODES.entries()) {
      a.write(
        `insert into nodes (code, label, kind, address, public_key, short_id, sni, sort_order, created_at)
         values (?, ?, 'external', 'x.test', 'p', 'ab12', 'sni.test', ?, ?)`,
        ...[code, code, 10 + i, at],
      )
    }
    const customers = Array.from({ length: CUSTOMERS }, (_, i) => i + 1)
    for (const n of customers) {
      a.write('insert into users (tg_id, token, created_at) values (?, ?, ?)', n, tokenOf(n), at)
      // Half a day more, that no second makes another day.
      a.write(
        `insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at) values (?, ?, 'de1', '1m', ?, 'admin', ?)`,
        ...[uuidOf(n), n, stamp(Date.now() + 30.5 * DAY_MS), at],
      )
      a.write(
        `insert into payments (id, tg_id, external_id, provider, shop_id, created_at, node, plan, renews_uuid, amount, currency, days, source)
         values (?, ?, ?, 'provider_a', '100500', ?, 'de1', '1m', ?, 300, 'RUB', 30, 'bot')`,
        ...[uuidOf(1_000_000 + n), n, `ext-${n}`, at, uuidOf(n)],
      )
    }
    const pick = () => servers[Math.floor(random() * servers.length)] as Server
    const statuses = new Map<number, number>()
    const served = new Set<string>()
    await inParallel(customers, 6, async (n) => {
      const path = `/api/cabinet/${tokenOf(n)}/subscriptions/${uuidOf(n)}/change`
      const id = uuidOf(1_000_000 + n)
      const object = { id: `ext-${n}`, metadata: { payment_id: id } }
      const notice = { type: 'notification', event: 'payment.succeeded', object }
      const change = (body: object) => async () => {
        await pause(random() * 40)
        const { status } = await pick().call(path, { body })
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status === 200) served.add(`${n} ${Object.keys(body)}`)
      }
      const asks = [
        ...[1, 2, 3, 4].map(() => change({ plan: '3m' })),
        ...NODES.map((node) => change({ node })),
        () => pick().call('/payments/webhook/provider_a', { body: notice }),
      ].sort(() => random() - 0.5)
      await Promise.all(asks.map((ask) => ask()))
      // What was too busy is asked once more.
      await until(
        'it is paid and changed',
        async () => {
          const { json } = await pick().admin(`/payments/${id}/grant`, {})
          if (!served.has(`${n} plan`)) await change({ plan: '3m' })()
          if (!served.has(`${n} node`)) await change({ node: 'n1' })()
          return json?.status === 'paid' && served.has(`${n} plan`) && served.has(`${n} node`)
        },
        60_000,
      )
    })
    await Promise.all(servers.map((server) => server.stop()))

    interface Row {
      uuid: string
      node: string
      plan: string
      expires_at: string
      at: string
      given_seconds: number | null
    }
    const rows = a.query<Row>(
      `select s.uuid, s.node, s.plan, s.expires_at, l.at, p.given_seconds from subscriptions s
       join audit_log l on l.object = s.uuid and l.action = 'subscription.change' and l.detail like '%plan=3m%'
       join payments p on p.renews_uuid = s.uuid`,
    )
    expect(rows).toHaveLength(CUSTOMERS)
    const orders = { paidFirst: 0, changedFirst: 0 }
    for (const { node, plan, expires_at, at: changedAt, given_seconds: given } of rows) {
      const days = (Date.parse(`${expires_at}Z`) - Date.parse(`${changedAt}Z`)) / DAY_MS
      expect(NODES).toContain(node)
      if (given === null) {
        // 15 days of 3m, to which 30 of 1m came, which is the plan from then on.
        expect([plan, days]).toEqual(['1m', 45])
        orders.changedFirst++
      } else {
        expect([plan, days]).toEqual(['3m', 30])
        // Of 60.5 days that became 30 the 30 of this payment are 14.876.
        expect(Number(given) / 86_400).toBeCloseTo(14.876, 2)
        orders.paidFirst++
      }
    }
    console.log(`${engine}: ${JSON.stringify(orders)}, ${JSON.stringify([...statuses])}`)
    expect(orders.paidFirst).toBeGreaterThan(0)
    expect(orders.changedFirst).toBeGreaterThan(0)
    expect(count(a, "audit_log where action = 'subscription.change'")).toBe(2 * CUSTOMERS)
    expect(count(a, "audit_log where action = 'payment.renew'")).toBe(CUSTOMERS)
    expect(count(a, "events where event = 'payment.paid'")).toBe(CUSTOMERS)
    expect(count(a, 'subscriptions')).toBe(CUSTOMERS)
    const allowed = new Set([200, 429, 400, 503])
    expect([...statuses.keys()].filter((status) => !allowed.has(status))).toEqual([])
    expect(statuses.get(200)).toBe(2 * CUSTOMERS)
    expectSound(a)
  },
  1_800_000,
)
