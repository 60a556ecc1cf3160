/** Traffic that is paid for while periods end, confirmed at once by notices and admins in several processes: no byte is lost, and none is added twice. */
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { inParallel, ROOT, runtimeBinary, type Server } from '#test/support/drivers/process.ts'
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
const PAYMENTS = process.env.FULL === '1' ? 10_000 : 1000
const BUYERS = 20
/** What each adds. */
const BYTES = 1_000_003

let provider: FakeSystem | undefined
afterEach(() => provider?.close())

const uuidOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

test.each(ENGINES)(
  `%s: ${PAYMENTS} top-ups of ${BUYERS} subscriptions, raced with each other and with resets`,
  async (engine) => {
    const random = seeded(Number(process.env.SEED ?? 1))
    provider = await startFakeSystem(({ path }) => {
      const amount = { value: '99.00', currency: 'RUB' }
      const id = path.split('/').at(-1)
      return { status: 200, json: { id, status: 'succeeded', paid: true, amount, test: false } }
    })
    const environment = yookassaEnvironment(`${provider.url}/v3`)
    const a = area({ ...environment, LOG_LEVEL: 'info', ...(await on(engine)) })
    const servers: Server[] = []
    for (const runtime of ['node', 'bun'] as const) {
      servers.push(await a.startServer({ runtime, entry: `entry/${runtime}.ts` }))
    }
    const at = new Date().toISOString().slice(0, 19)
    for (let n = 1; n <= BUYERS; n++) {
      const token = `token-of-${n}-`.padEnd(43, 'x')
      a.write('insert into users (tg_id, token, created_at) values (?, ?, ?)', n, token, at)
      a.write(
        `insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at, quota_bytes, quota_period, resets_at)
         values (?, ?, 'de1', '1m', '2099-01-01T00:00:00', 'admin', ?, 1000000, 'day', '2099-01-01T00:00:00')`,
        ...[uuidOf(n), n, at],
      )
    }
    const rows = Array.from({ length: PAYMENTS }, (_, i) => ({
      id: uuidOf(1_000_000 + i),
      externalId: `ext-${i}`,
      buyer: 1 + Math.floor(random() * BUYERS),
    }))
    for (const { id, externalId, buyer } of rows) {
      a.write(
        `insert into payments (id, tg_id, external_id, provider, shop_id, created_at, node, plan, kind, pack, extra_bytes, renews_uuid, amount, currency, days, source)
         values (?, ?, ?, 'provider_a', '100500', ?, 'de1', '1m', 'traffic', '50gb', ${BYTES}, ?, 99, 'RUB', 0, 'bot')`,
        ...[id, buyer, externalId, at, uuidOf(buyer)],
      )
    }
    const script = join(ROOT, 'test/support/drivers/top-up-racer.ts')
    const racer = a.spawn({ command: [runtimeBinary('node'), script] })
    await until('the racer runs', () => racer.stdout().includes('resetting'), 60_000)
    await servers[0]?.admin('/nodes')
    const pick = () => servers[Math.floor(random() * servers.length)] as Server
    await inParallel(rows, 16, async ({ id, externalId }) => {
      const object = { id: externalId, metadata: { payment_id: id } }
      const notice = { type: 'notification', event: 'payment.succeeded', object }
      const asks = [
        () => pick().call('/payments/webhook/provider_a', { body: notice }),
        () => pick().admin(`/payments/${id}/check`, {}),
        () => pick().admin(`/payments/${id}/grant`, {}),
      ].sort(() => random() - 0.5)
      await Promise.all(asks.map((ask) => ask()))
      // What was too busy is asked once more, as gateways do.
      await until(
        'it is paid',
        async () => {
          const { json } = await pick().admin(`/payments/${id}/grant`, {})
          return json?.status === 'paid'
        },
        60_000,
      )
    })
    await racer.stop()
    const used = Number(/used (\d+)/.exec(racer.stdout())?.[1])
    await Promise.all(servers.map((server) => server.stop()))

    const [sum] = a.query<{ n: number }>('select sum(extra_bytes) as n from subscriptions')
    const [waiting] = a.query<{ n: number }>(
      'select coalesce(sum(used_bytes - quota_bytes), 0) as n from subscriptions where used_bytes > 0',
    )
    console.log(
      `${engine}: ${PAYMENTS} top-ups, ${used} bytes used beside quotas by periods that ended`,
    )
    expect(used).toBeGreaterThan(0)
    expect(Number(waiting?.n)).toBe(0)
    expect(Number(sum?.n)).toBe(PAYMENTS * BYTES - used)
    expect(count(a, "payments where status = 'paid' and subscription_uuid = renews_uuid")).toBe(
      PAYMENTS,
    )
    expect(count(a, "events where event = 'payment.paid'")).toBe(PAYMENTS)
    expect(count(a, "outbox where kind = 'topped-up'")).toBe(PAYMENTS)
    expect(count(a, "audit_log where action = 'payment.traffic'")).toBe(PAYMENTS)
    expect(count(a, 'subscriptions')).toBe(BUYERS)
    expectSound(a)
  },
  1_800_000,
)
