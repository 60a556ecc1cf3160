/** kill -9 at every named step of making and granting payments: after a restart and what is sent again, nothing is lost or given twice. */
import Sqlite from 'better-sqlite3'
import { afterEach, expect, test } from 'vitest'
import { findFaults } from '#db/verify.ts'
import { type FakeYookassa, startFakeYookassa } from '#test/support/fake-yookassa.ts'
import { type Area, PLAIN, RUNTIMES, type Server } from '#test/support/process.ts'
import { seeded, useAreas, verdict } from '#test/support/torture.ts'

const area = useAreas()
const FULL = process.env.FULL === '1'
const SEED = Number(process.env.SEED ?? 1)
const KILLS = FULL ? 500 : 26

/** The steps as the log names them, in their order. */
const CREATION = ['row written', 'ordered', 'order created', 'link stored']
const GRANT = [
  ...['asked', 'answered', 'begun', 'claimed', 'given', 'message queued', 'rows written'],
  ...['committed', 'client added'],
]
const STEPS = [...CREATION, ...GRANT]

let yookassa: FakeYookassa | undefined
afterEach(() => yookassa?.close())

const environment = (url: string) => ({
  ...PLAIN,
  PAYMENTS_ENABLED: 'true',
  PROVIDER_A_API_URL: url,
  PROVIDER_A_SHOP_ID: '100500',
  PROVIDER_A_SECRET_KEY: 'live_a',
  PROVIDER_A_ENABLED: 'true',
})

/** Kills the process when it logs the step, without losing a millisecond; false when it never does. */
async function killAt(a: Area, server: Server, from: number, step: string): Promise<boolean> {
  const wanted = [`step=${step}`, `step="${step}"`]
  const deadline = performance.now() + 20_000
  for (let at = from; performance.now() < deadline; ) {
    const line = a.lines[at]
    if (!line) await new Promise((resolve) => setImmediate(resolve))
    else if (line.pid === server.pid && wanted.some((text) => line.text.endsWith(text))) {
      await server.kill()
      return true
    } else at++
  }
  return false
}

const tokenOf = (tgId: number) => `token-of-${tgId}-`.padEnd(43, 'x')

function addUser(a: Area, tgId: number): void {
  const at = '2026-01-01T00:00:00'
  a.write('insert into users (tg_id, token, created_at) values (?, ?, ?)', tgId, tokenOf(tgId), at)
}

const paymentsOf = (a: Area, tgId: number) =>
  a.query<{ id: string; external_id: string; status: string }>(
    'select id, external_id, status from payments where tg_id = ?',
    tgId,
  )

const buy = (server: Server, tgId: number) =>
  server.call(`/api/cabinet/${tokenOf(tgId)}/payments`, {
    body: { node: 'nl1', plan: '1m', provider: 'provider_a' },
  })

function notify(server: Server, fake: FakeYookassa, externalId: string) {
  const body = fake.notice('payment.succeeded', externalId)
  return server.call('/payments/webhook/provider_a', { body })
}

const count = (a: Area, sql: string) =>
  a.query<{ n: number }>(`select count(*) n from ${sql}`)[0]?.n

test(`${KILLS} kills at ${STEPS.length} steps of payments lose nothing and give nothing twice`, async () => {
  const random = seeded(SEED)
  const fake = await startFakeYookassa({ 100500: 'live_a' })
  yookassa = fake
  const a = area(environment(fake.url))
  const start = () => a.startServer({ runtime: RUNTIMES[random() < 0.5 ? 0 : 1] ?? 'node' })
  let server = await start()
  a.write(
    "insert into nodes (code, label, address, sort_order, created_at) values ('nl1', 'Nord', 'nl1.test', 9, '2026-01-01T00:00:00')",
  )
  let hits = 0
  /** Sends a request to a process that is killed when it comes to `step`, and starts another. */
  const cutShort = async (step: string, send: () => Promise<unknown>) => {
    const from = a.lines.length
    const asked = send().catch(() => null)
    if (await killAt(a, server, from, step)) hits++
    await asked
    server = await start()
  }
  const left: Record<string, number> = {}
  const round = async (tgId: number, step: string) => {
    addUser(a, tgId)
    if (CREATION.includes(step)) await cutShort(step, () => buy(server, tgId))
    // The buyer taps once more, or for the first time.
    const bought = await buy(server, tgId)
    expect([step, bought.status, bought.text]).toEqual([step, 200, expect.anything()])
    const [made, ...others] = paymentsOf(a, tgId)
    expect([step, made?.id, others]).toEqual([step, bought.json.id, []])
    expect(fake.paymentsOf(bought.json.id)).toHaveLength(1)
    const externalId = made?.external_id ?? ''
    fake.pay(externalId)
    if (!CREATION.includes(step)) {
      await cutShort(step, () => notify(server, fake, externalId))
      const found = `${step}: ${paymentsOf(a, tgId)[0]?.status}`
      left[found] = (left[found] ?? 0) + 1
    }
    // The provider sends its notice until it is taken, and sometimes once more.
    for (let sent = 0; sent < 1 + Math.floor(random() * 2); sent++) {
      expect((await notify(server, fake, externalId)).status).toBe(200)
    }
    expect(count(a, `subscriptions where tg_id = ${tgId}`), step).toBe(1)
  }
  for (let i = 0; i < KILLS; i++) await round(i + 1, STEPS[i % STEPS.length] as string)
  await server.stop()
  console.log(`${KILLS} kills, ${hits} at their step, seed ${SEED}: ${JSON.stringify(left)}`)
  expect(hits).toBe(KILLS)
  expect(count(a, "payments where status = 'paid'")).toBe(KILLS)
  expect(count(a, 'payments')).toBe(KILLS)
  expect(count(a, 'subscriptions')).toBe(KILLS)
  expect(count(a, "events where event = 'payment.paid'")).toBe(KILLS)
  expect(count(a, "outbox where kind = 'granted'")).toBe(KILLS)
  expect(fake.payments.size).toBe(KILLS)
  expect(verdict(a.database)).toBe('ok')
  const db = new Sqlite(a.database, { readonly: true })
  expect(findFaults(db, '2000-01-01T00:00:00')).toEqual([])
  db.close()
}, 1_800_000)
