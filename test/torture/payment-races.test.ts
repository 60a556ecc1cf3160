/** Payments confirmed at once by two notices, an admin and the reconciler, in four processes on one database: one grant each. */
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import {
  type Area,
  inParallel,
  ROOT,
  runtimeBinary,
  type Server,
} from '#test/support/drivers/process.ts'
import {
  count,
  expectGrantedOnce,
  yookassaEnvironment,
} from '#test/support/drivers/shop-process.ts'
import { ENGINES, seeded, useAreas, useEngines } from '#test/support/drivers/torture.ts'
import { type FakeSystem, startFakeSystem } from '#test/support/fakes/system.ts'
import { until } from '#test/support/labs/lab.ts'

const area = useAreas()
const on = useEngines()
const FULL = process.env.FULL === '1'
const SEED = Number(process.env.SEED ?? 1)
const PAYMENTS = FULL ? 10_000 : 200
/** Payments that come into being together: the reconciler finds them as the notices arrive. */
const ROUND = 40
const SECRET = 'secret of provider b'

let providers: FakeSystem | undefined
afterEach(() => providers?.close())

/** Both providers at one address: every payment is paid. */
const startProviders = () =>
  startFakeSystem(({ path }) => {
    const id = path.split('/').at(-1)
    const amount = { value: '199.00', currency: 'RUB' }
    return path.startsWith('/v3/')
      ? { status: 200, json: { id, status: 'succeeded', paid: true, amount, test: false } }
      : { status: 200, json: { id, status: 'paid', amount: '199.00', currency: 'RUB' } }
  })

const environment = (url: string) => ({
  ...yookassaEnvironment(`${url}/v3`),
  LOG_LEVEL: 'info',
  PROVIDER_B_PRESET: 'generic',
  PROVIDER_B_API_URL: url,
  PROVIDER_B_MERCHANT_ID: 'merchant',
  PROVIDER_B_SECRET: SECRET,
  PROVIDER_B_ENABLED: 'true',
})

interface Row {
  id: string
  provider: 'provider_a' | 'provider_b'
  externalId: string
}

/** Writes pending payments that are due, of users who mostly do not exist yet. */
function addPayments(a: Area, random: () => number, count: number, from: number): Row[] {
  const rows = Array.from({ length: count }, (_, i): Row => {
    const number = String(from + i).padStart(12, '0')
    const provider = random() < 0.5 ? 'provider_a' : 'provider_b'
    return { id: `00000000-0000-4000-8000-${number}`, provider, externalId: `ext-${number}` }
  })
  const at = new Date().toISOString().slice(0, 19)
  const values = rows.flatMap(({ id, provider, externalId }) => {
    const shopId = provider === 'provider_a' ? '100500' : 'merchant'
    return [id, 1 + Math.floor(random() * PAYMENTS), provider, externalId, shopId, at, at]
  })
  a.write(
    `insert into payments (id, tg_id, provider, external_id, shop_id, created_at, next_check_at, node, plan, amount, currency, days, source)
     values ${rows.map(() => "(?, ?, ?, ?, ?, ?, ?, 'de1', '1m', 199, 'RUB', 30, 'bot')").join(', ')}`,
    ...values,
  )
  return rows
}

/** A notice of the payment's provider as it is really sent. */
function notify(server: Server, { id, provider, externalId }: Row) {
  if (provider === 'provider_a') {
    const object = { id: externalId, metadata: { payment_id: id } }
    return server.call('/payments/webhook/provider_a', {
      body: { type: 'notification', event: 'payment.succeeded', object },
    })
  }
  const body = { id: externalId, status: 'paid', amount: 199, currency: 'RUB' }
  const signature = createHmac('sha256', SECRET).update(JSON.stringify(body)).digest('hex')
  return server.call('/payments/webhook/provider_b', {
    body,
    headers: { 'x-signature': signature },
  })
}

test.each(ENGINES)(
  `%s: ${PAYMENTS} payments, each confirmed at once by two notices, an admin and the reconciler in 4 processes`,
  async (engine) => {
    const random = seeded(SEED)
    providers = await startProviders()
    const a = area({ ...environment(providers.url), ...(await on(engine)) })
    const servers: Server[] = []
    for (const runtime of ['node', 'bun', 'node'] as const) {
      servers.push(await a.startServer({ runtime, entry: `entry/${runtime}.ts` }))
    }
    const script = join(ROOT, 'test/support/drivers/reconciler.ts')
    const reconciler = a.spawn({ command: [runtimeBinary('bun'), script] })
    await until('the reconciler runs', () => reconciler.stdout().includes('reconciling'), 30_000)
    await servers[0]?.admin('/nodes')
    const pick = () => servers[Math.floor(random() * servers.length)] as Server

    const startedAt = performance.now()
    let requests = 0
    for (let from = 0; from < PAYMENTS; from += ROUND) {
      const rows = addPayments(a, random, Math.min(ROUND, PAYMENTS - from), from)
      await inParallel(rows, 16, async (row) => {
        const asks = [
          () => notify(pick(), row),
          () => notify(pick(), row),
          () => pick().admin(`/payments/${row.id}/check`, {}),
        ].sort(() => random() - 0.5)
        requests += asks.length
        const answers = await Promise.all(asks.map((ask) => ask()))
        // 503: the database was busy for longer than a request may wait.
        for (const { status } of answers) expect([200, 503]).toContain(status)
      })
    }
    await until(
      'nothing is pending',
      () => count(a, "payments where status = 'pending'") === 0,
      60_000,
    )
    const seconds = (performance.now() - startedAt) / 1000
    await Promise.all([...servers.map((server) => server.stop()), reconciler.stop()])

    const by = a.query<{ by: string; n: number }>(
      `select coalesce(admin, ip) as by, count(*) n from audit_log where action = 'payment.grant' group by 1 order by 1`,
    )
    const granted = by.map((one) => `${one.n} by ${one.by}`).join(', ')
    console.log(
      `${engine}: ${PAYMENTS} payments, ${requests} requests, ${providers.asked.length} questions to the providers, ${seconds.toFixed(1)} s, seed ${SEED}: ${granted}`,
    )
    expectGrantedOnce(a, PAYMENTS)
    expect(a.lines.filter((line) => line.text.includes(' error '))).toEqual([])
  },
  1_800_000,
)
