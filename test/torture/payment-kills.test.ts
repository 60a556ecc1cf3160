/** kill -9 at every named step of making and granting payments: after a restart and what is sent again, nothing is lost or given twice. */
import { afterEach, expect, test } from 'vitest'
import { type Area, RUNTIMES, type Server } from '#test/support/drivers/process.ts'
import {
  addBuyer,
  addShopNode,
  buy,
  count,
  expectAddedOnce,
  expectGrantedOnce,
  KEYS,
  notify,
  paymentsOf,
  yookassaEnvironment,
} from '#test/support/drivers/shop-process.ts'
import { seeded, useAreas } from '#test/support/drivers/torture.ts'
import { type FakeYookassa, startFakeYookassa } from '#test/support/fakes/yookassa.ts'

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

/** What is bought, and that each payment gave it once. */
interface Goods {
  what: string
  kills: number
  prepare(a: Area, tgId: number): Record<string, unknown>
  expectOnce(a: Area): void
}

const subscriptionOf = (tgId: number) => `00000000-0000-4000-8000-${String(tgId).padStart(12, '0')}`

const GOODS: Goods[] = [
  {
    what: 'access',
    kills: KILLS,
    prepare: () => ({}),
    expectOnce: (a) => expectGrantedOnce(a, KILLS),
  },
  {
    what: 'traffic',
    kills: FULL ? KILLS : STEPS.length,
    prepare(a, tgId) {
      const at = '2026-01-01T00:00:00'
      a.write(
        `insert into traffic_packs (code, label, gb, price, sort_order) values ('50gb', '50 GB', 50, 99, 1) on conflict do nothing`,
      )
      a.write(
        `insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at, quota_bytes, used_bytes, limited_at)
         values (?, ?, 'nl1', '1m', '2099-01-01T00:00:00', 'admin', ?, 5, 5, ?)`,
        ...[subscriptionOf(tgId), tgId, at, at],
      )
      return { kind: 'traffic', pack: '50gb', renews: subscriptionOf(tgId) }
    },
    expectOnce: (a) => expectAddedOnce(a, FULL ? KILLS : STEPS.length, 50 * 1024 ** 3),
  },
]

test.each(GOODS)(
  '$kills kills at each step of payments for $what lose nothing and give nothing twice',
  async ({ kills, prepare, expectOnce }) => {
    const random = seeded(SEED)
    const fake = await startFakeYookassa(KEYS)
    yookassa = fake
    const a = area(yookassaEnvironment(fake.url))
    const start = () => a.startServer({ runtime: RUNTIMES[random() < 0.5 ? 0 : 1] ?? 'node' })
    let server = await start()
    addShopNode(a)
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
      addBuyer(a, tgId)
      const order = prepare(a, tgId)
      if (CREATION.includes(step)) await cutShort(step, () => buy(server, tgId, order))
      // The buyer taps once more, or for the first time.
      const bought = await buy(server, tgId, order)
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
    for (let i = 0; i < kills; i++) await round(i + 1, STEPS[i % STEPS.length] as string)
    await server.stop()
    console.log(`${kills} kills, ${hits} at their step, seed ${SEED}: ${JSON.stringify(left)}`)
    expect(hits).toBe(kills)
    expect(fake.payments.size).toBe(kills)
    expectOnce(a)
  },
  1_800_000,
)
