/** Readings of one core that four processes count, of which each is killed again and again: no byte is lost, and none counts twice. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PLAIN, ROOT, type Running, runtimeBinary } from '#test/support/drivers/process.ts'
import {
  ENGINES,
  expectSound,
  seeded,
  useAreas,
  useEngines,
} from '#test/support/drivers/torture.ts'

const area = useAreas()
const on = useEngines()
const FULL = process.env.FULL === '1'
const READINGS = FULL ? 10_000 : 400
const KILLS = FULL ? 500 : 24
const CLIENTS = 5
const GB = 1024 ** 3
/** As the racer's node counts. */
const SHARE = 37

test.each(ENGINES)(
  `%s: ${READINGS} readings by 4 processes that are killed: each byte counts once`,
  async (engine) => {
    const random = seeded(Number(process.env.SEED ?? 1))
    const a = area({ ...PLAIN, LOG_LEVEL: 'info', ...(await on(engine)) })
    await (await a.startServer()).stop()
    const at = '2026-01-01T00:00:00'
    a.write('insert into users (tg_id, token, created_at) values (7, ?, ?)', 't'.repeat(43), at)
    for (let i = 0; i < CLIENTS; i++) {
      // The last of them is at its limit after the first reading.
      a.write(
        `insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at, quota_bytes)
         values (?, 7, 'de1', '1m', '2099-01-01T00:00:00', 'admin', ?, ?)`,
        ...[`00000000-0000-4000-8000-00000000000${i}`, at, i === CLIENTS - 1 ? 1 : 1_000_000 * GB],
      )
    }
    const since = Date.now()
    const script = join(ROOT, 'test/support/drivers/reading-racer.ts')
    const start = (count: number) =>
      a.spawn({
        command: [runtimeBinary(random() < 0.5 ? 'bun' : 'node'), script, `${since}`, `${count}`],
      })
    const countedBy = (racer: Running) => racer.stdout().match(/^counted /gm)?.length ?? 0
    let counted = 0
    let kills = 0
    const race = async () => {
      while (counted < READINGS || kills < KILLS) {
        const racer = start(READINGS)
        const before = counted
        // Long enough to begin, and then anywhere in a reading.
        while (countedBy(racer) === 0 && counted === before) await pause(5)
        await pause(random() * 800)
        await racer.kill()
        kills++
        counted += countedBy(racer)
      }
    }
    await Promise.all(Array.from({ length: 4 }, race))
    const last = start(1)
    expect(await last.exited).toMatchObject({ code: 0 })
    const told = Number(/counted (\d+)/.exec(last.stdout())?.[1])
    console.log(`${engine}: ${counted} readings were counted whole, ${kills} processes killed`)
    const rows = a.query<Record<string, number>>(
      'select up_bytes, down_bytes, used_bytes, used_rest, limited_at from subscriptions order by uuid',
    )
    for (const [client, row] of rows.entries()) {
      const [up, down] = [told, told * (client + 1)]
      expect([row.up_bytes, row.down_bytes]).toEqual([up, down])
      expect((row.used_bytes ?? 0) * 100 + (row.used_rest ?? 0)).toBe((up + down) * SHARE)
      expect(row.limited_at === null).toBe(client < CLIENTS - 1)
    }
    const traffic = a.query<{ n: number }>(
      "select count(*) as n from outbox where kind = 'traffic'",
    )
    expect(traffic).toEqual([{ n: 1 }])
    const [sample] = a.query<{ up: number; down: number }>(
      'select sum(up) as up, sum(down) as down from traffic_samples',
    )
    expect(Number(sample?.up)).toBe(told * CLIENTS)
    expectSound(a)
  },
  1_800_000,
)

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms))
