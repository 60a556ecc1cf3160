/** Gift codes that four processes want at the same time: each has one winner. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PLAIN, ROOT, runtimeBinary } from '#test/support/drivers/process.ts'
import { ENGINES, expectSound, useAreas, useEngines } from '#test/support/drivers/torture.ts'
import { until } from '#test/support/labs/lab.ts'

const area = useAreas()
const on = useEngines()
const CODES = process.env.FULL === '1' ? 2000 : 200

test.each(ENGINES)(
  `%s: ${CODES} codes, each wanted by 4 processes at once: as many winners`,
  async (engine) => {
    const a = area({ ...PLAIN, LOG_LEVEL: 'info', ...(await on(engine)) })
    await (await a.startServer()).stop()
    for (let i = 0; i < CODES; i++) {
      const code = `CODE${String(i).padStart(12, 'A')}`
      const at = '2026-01-01T00:00:00'
      a.write(
        "insert into gift_codes (code, node, plan, created_at) values (?, 'de1', '1m', ?)",
        code,
        at,
      )
    }
    const script = join(ROOT, 'test/support/drivers/gift-racer.ts')
    const racers = (['node', 'bun', 'node', 'bun'] as const).map((runtime, i) =>
      a.spawn({ command: [runtimeBinary(runtime), script, String((i + 1) * 1_000_000)] }),
    )
    for (const racer of racers) {
      await until('a racer is ready', () => racer.stdout().includes('ready'), 60_000)
    }
    writeFileSync(join(a.dir, 'go'), '')
    await Promise.all(racers.map(({ exited }) => exited))
    const outcomes = racers.map((racer) => /outcomes (.*)/.exec(racer.stdout())?.[1] ?? 'none')
    console.log(`${engine}: ${CODES} codes: ${outcomes.join(' ')}`)
    const sums: Record<string, number> = {}
    for (const one of outcomes) {
      for (const [outcome, n] of Object.entries(JSON.parse(one) as Record<string, number>)) {
        sums[outcome] = (sums[outcome] ?? 0) + n
      }
    }
    expect(sums).toEqual({ redeemed: CODES, used: 3 * CODES })
    const counts = `select count(*) n, count(distinct gift_code) codes, count(distinct tg_id) users from subscriptions where source = 'gift'`
    expect(a.query(counts)).toEqual([{ n: CODES, codes: CODES, users: CODES }])
    expect(a.query("select count(*) n from audit_log where action = 'gift.redeem'")).toEqual([
      { n: CODES },
    ])
    // Whoever lost was not even noted as a user.
    expect(a.query('select count(*) n from users')).toEqual([{ n: CODES }])
    expectSound(a)
  },
  600_000,
)
