/** kill -9 while events and messages are delivered: no event arrives twice, none is lost unnoticed, every message arrives. */
import { expect, test } from 'vitest'
import { PLAIN, RUNTIMES, type Server } from '#test/support/drivers/process.ts'
import {
  ENGINES,
  expectSound,
  fillUsers,
  seeded,
  useAreas,
  useEngines,
} from '#test/support/drivers/torture.ts'
import { startFakeSystem } from '#test/support/fakes/system.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { until } from '#test/support/labs/lab.ts'
import { BOT_TOKEN } from '#test/support/rows/messages.ts'

const area = useAreas()
const on = useEngines()
const FULL = process.env.FULL === '1'
const KILLS = FULL ? 100 : 10
const WORKERS = 6
const USERS = 200
const SEED = Number(process.env.SEED ?? 1)

const countBy = (ids: (string | undefined)[]) => {
  const counts = new Map<string, number>()
  for (const id of ids) if (id) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}
const repeated = (counts: Map<string, number>) => [...counts].filter(([, n]) => n > 1)

test.each(ENGINES)(
  `%s: ${KILLS} kills of two processes that deliver`,
  { timeout: 900_000 },
  async (engine) => {
    const random = seeded(SEED)
    const receiver = await startFakeSystem(() => ({ status: 200, delayMs: random() * 30 }))
    const telegram = await startFakeTelegram({ [BOT_TOKEN]: 'shop_bot' })
    const a = area({
      ...PLAIN,
      ...{ WEBHOOK_URL: receiver.url, BOT_TOKEN, TELEGRAM_API_URL: telegram.url },
      ...(await on(engine)),
    })
    const servers: Server[] = []
    for (const runtime of RUNTIMES) servers.push(await a.startServer({ runtime }))
    await servers[0]?.admin('/nodes')
    fillUsers(a, USERS)
    let over = false
    let texts = 0

    /** A grant writes an event; its message is written beside it, as a payment's would be. */
    const worker = async (number: number) => {
      for (let i = 0; !over; i++) {
        const server = servers[random() < 0.5 ? 0 : 1] as Server
        const body = { node: 'de1', plan: '1m' }
        await server.admin(`/users/${number * 10_000 + i}/grant`, body).catch(() => null)
        const payload = {
          node_label: `text ${++texts}.`,
          plan_label: '',
          expires_at: '2026-03-01T12:00:00',
        }
        a.write(
          "insert into outbox (tg_id, kind, payload, next_try_at, created_at) values (?, 'granted', ?, '2026-01-01T00:00:00', ?)",
          ...[1 + (texts % USERS), JSON.stringify(payload), new Date().toISOString().slice(0, 19)],
        )
      }
    }
    const killer = async () => {
      for (let i = 0; i < KILLS; i++) {
        await new Promise((resolve) => setTimeout(resolve, 100 + random() * 500))
        const victim = Math.floor(random() * 2)
        await servers[victim]?.kill()
        servers[victim] = await a.startServer({ runtime: RUNTIMES[victim] ?? 'node' })
      }
      over = true
    }
    await Promise.all([killer(), ...Array.from({ length: WORKERS }, (_, i) => worker(i + 1))])
    const isOpen = "status in ('ready', 'sending')"
    await until(
      'everything is sent or given up',
      () =>
        a.query(
          `select 1 from events where ${isOpen} union all select 1 from outbox where ${isOpen}`,
        ).length === 0,
      // Half a minute until the last lost ones are found, then what has waited behind them.
      FULL ? 300_000 : 90_000,
    )
    await Promise.all(servers.map((server) => server.stop()))

    const events = a.query<{ id: string; status: string; attempts: number }>('select * from events')
    const arrived = countBy(receiver.asked.map(({ headers }) => headers['webhook-id']))
    const messages = a.query<{ tg_id: number; status: string; payload: string }>(
      'select * from outbox order by id',
    )
    const labelOf = (text: string) => /text \d+\./.exec(text)?.[0]
    const read = countBy(telegram.sent.map(({ text }) => labelOf(text)))
    const interrupted = events.filter(({ status }) => status === 'interrupted')
    console.log(
      `${engine}, seed ${SEED}: ${KILLS} kills, ${events.length} events, ${interrupted.length} interrupted, of which ${
        interrupted.filter(({ id }) => arrived.has(id)).length
      } had arrived; ${messages.length} messages, ${repeated(read).length} arrived twice`,
    )
    expect(events.length).toBeGreaterThan(50)
    expectSound(a)

    expect(repeated(arrived)).toEqual([])
    expect(new Set(events.map(({ status }) => status))).toEqual(new Set(['done', 'interrupted']))
    expect(events.filter(({ attempts }) => attempts !== 1)).toEqual([])
    expect(events.filter(({ id, status }) => status === 'done' && !arrived.has(id))).toEqual([])

    expect(messages.filter(({ status }) => status !== 'done')).toEqual([])
    expect(messages.filter(({ payload }) => !read.has(JSON.parse(payload).node_label))).toEqual([])
    // Each user reads their messages in the order in which they were written, save that one may come again.
    for (let tgId = 1; tgId <= USERS; tgId++) {
      const written = messages
        .filter((row) => row.tg_id === tgId)
        .map(({ payload }) => JSON.parse(payload).node_label)
      const first = new Set(
        telegram.sent.filter(({ chat_id }) => chat_id === tgId).map(({ text }) => labelOf(text)),
      )
      expect([...first]).toEqual(written)
    }
    await receiver.close()
    await telegram.close()
  },
)
