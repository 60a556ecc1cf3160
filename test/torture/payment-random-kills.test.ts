/** kill -9 at random times while people buy: nothing is lost, nothing given twice; messages that come twice are counted. */
import { afterEach, expect, test } from 'vitest'
import { type Area, RUNTIMES, type Running, type Server } from '#test/support/drivers/process.ts'
import {
  addBuyer,
  addShopNode,
  buy,
  count,
  expectGrantedOnce,
  KEYS,
  notify,
  paymentsOf,
  yookassaEnvironment,
} from '#test/support/drivers/shop-process.ts'
import { ENGINES, seeded, useAreas, useEngines } from '#test/support/drivers/torture.ts'
import { type FakeSystem, startFakeSystem } from '#test/support/fakes/system.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { startFakeYookassa } from '#test/support/fakes/yookassa.ts'
import { until } from '#test/support/labs/lab.ts'
import { BOT_TOKEN } from '#test/support/rows/messages.ts'

const area = useAreas()
const on = useEngines()
const FULL = process.env.FULL === '1'
const SEED = Number(process.env.SEED ?? 1)
const KILLS = FULL ? 500 : 30
const BUYERS = 6
/** The scheduler needs up to 10 s until it has the role of one that was killed. */
const SCHEDULER_LIVES_MS = 20_000

const systems: FakeSystem[] = []
afterEach(async () => {
  await Promise.all(systems.splice(0).map((system) => system.close()))
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Asks again and again until there is a 200: processes come and go. */
async function insist(send: () => ReturnType<Server['call']>) {
  for (let tries = 0; tries < 2000; tries++) {
    const answer = await send().catch(() => null)
    if (answer?.status === 200) return answer
    await pause(10)
  }
  throw new Error('nobody answers')
}

/** What the payments of a process had come to when it was killed, but for those that were done with. */
function stepsAtTheEnd(a: Area, pids: Set<number>): Map<string, number> {
  const last = new Map<string, string>()
  for (const { pid, text } of a.lines) {
    const [, payment, quoted, word] = /payment=(\S+) step=(?:"([^"]+)"|(\S+))$/.exec(text) ?? []
    if (payment && pids.has(pid)) last.set(`${pid} ${payment}`, quoted ?? word ?? '')
  }
  const steps = new Map<string, number>()
  for (const step of last.values()) steps.set(step, (steps.get(step) ?? 0) + 1)
  // 'committed' ends those that another process had granted.
  for (const done of ['link stored', 'committed', 'client added']) steps.delete(done)
  return steps
}

test.each(ENGINES)(
  `%s: ${KILLS} kills at random times of two processes that sell`,
  {
    timeout: 1_800_000,
  },
  async (engine) => {
    const random = seeded(SEED)
    const yookassa = await startFakeYookassa(KEYS)
    const telegram = await startFakeTelegram({ [BOT_TOKEN]: 'shop_bot' })
    const receiver = await startFakeSystem(() => ({ status: 200 }))
    systems.push(yookassa, telegram, receiver)
    const a = area({
      ...yookassaEnvironment(yookassa.url),
      ...{ WEBHOOK_URL: receiver.url, BOT_TOKEN, TELEGRAM_API_URL: telegram.url },
      ...(await on(engine)),
    })
    const startServer = (i: number) => {
      const runtime = RUNTIMES[i] ?? 'node'
      return a.startServer({ runtime, entry: `entry/${runtime}.ts` })
    }
    const sellers: Server[] = []
    for (const i of [0, 1]) sellers.push(await startServer(i))
    addShopNode(a)
    const startScheduler = () => a.spawn({ entry: 'entry/scheduler.ts' })
    let scheduler: Running = startScheduler()
    let over = false
    let bought = 0
    const pick = () => sellers[random() < 0.5 ? 0 : 1] as Server

    /** Buys and pays; the provider sends its notice until it is taken, here and there to both at once or once more. */
    const buyer = async () => {
      while (!over) {
        const tgId = ++bought
        addBuyer(a, tgId)
        const { json } = await insist(() => buy(pick(), tgId))
        const [made, ...others] = paymentsOf(a, tgId)
        expect([made?.id, others]).toEqual([json.id, []])
        const externalId = made?.external_id ?? ''
        yookassa.pay(externalId)
        const notices = 1 + Math.floor(random() * 3)
        await Promise.all(
          Array.from({ length: notices }, () => insist(() => notify(pick(), yookassa, externalId))),
        )
      }
    }
    const killed = new Set<number>()
    let schedulers = 0
    let left = KILLS
    const killer = async (i: number) => {
      while (left-- > 0) {
        await pause(30 + random() * 400)
        const victim = sellers[i] as Server
        killed.add(victim.pid)
        await victim.kill()
        sellers[i] = await startServer(i)
      }
    }
    const schedulerKiller = async () => {
      for (let lived = 0; !over; lived += 100) {
        await pause(100)
        if (lived < SCHEDULER_LIVES_MS) continue
        await scheduler.kill()
        scheduler = startScheduler()
        schedulers++
        lived = 0
      }
    }
    const buyers = Array.from({ length: BUYERS }, buyer)
    const ends = schedulerKiller()
    await Promise.all([killer(0), killer(1)])
    over = true
    await Promise.all([...buyers, ends])
    const open = "status in ('ready', 'sending')"
    await until(
      'everything is sent or given up',
      () => count(a, `events where ${open}`) + count(a, `outbox where ${open}`) === 0,
      // Until the scheduler has its role, half a minute until the last lost ones are found, then what waited behind them.
      120_000,
    )
    await Promise.all([...sellers.map((server) => server.stop()), scheduler.stop()])

    const cut = stepsAtTheEnd(a, killed)
    const arrived = new Map<number, number>()
    for (const { chat_id } of telegram.sent) arrived.set(chat_id, (arrived.get(chat_id) ?? 0) + 1)
    const twice = [...arrived.values()].filter((times) => times > 1)
    const interrupted = count(a, "events where status = 'interrupted'")
    const eventIds = receiver.asked.map(({ headers }) => headers['webhook-id'])
    console.log(
      `${engine}, seed ${SEED}: ${KILLS} kills and ${schedulers} of the scheduler, ${bought} payments, cut off at ${JSON.stringify(Object.fromEntries(cut))}; ` +
        `${twice.length} messages arrived twice, ${interrupted} events were interrupted`,
    )
    expect(cut.size).toBeGreaterThan(0)
    expect(yookassa.payments.size).toBe(bought)
    expectGrantedOnce(a, bought)
    expect(count(a, "outbox where status <> 'done'")).toBe(0)
    expect(arrived.size).toBe(bought)
    expect(new Set(eventIds).size).toBe(eventIds.length)
    expect(count(a, "events where status not in ('done', 'interrupted')")).toBe(0)
  },
)
