/** Backups while others write: each of them is of one moment, opens, and restores. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withConnection } from '#db/engine/sqlite/snapshot.ts'
import { findFaults } from '#db/engine/sqlite/verify.ts'
import { gnuUntar, inFolder } from '#test/support/archives/archives.ts'
import { ROOT, RUNTIMES, runtimeBinary } from '#test/support/drivers/process.ts'
import { useAreas, verdict } from '#test/support/drivers/torture.ts'
import { until } from '#test/support/labs/lab.ts'

const area = useAreas()
const FULL = process.env.FULL === '1'
const BACKUPS = FULL ? 50 : 8
const WRITES_PER_SECOND = 500

test.each(RUNTIMES)(
  `on %s ${BACKUPS} backups under ${WRITES_PER_SECOND} grants a second: each is of one moment`,
  async (runtime) => {
    const a = area()
    const server = await a.startServer({ runtime })
    await server.admin('/nodes')
    const writer = a.spawn({
      command: [
        runtimeBinary('node'),
        join(ROOT, 'test/support/drivers/payment-writer.ts'),
        a.database,
        String(WRITES_PER_SECOND),
      ],
    })
    await until('grants are written', () => writer.stdout().includes('granted'))
    const counts: number[] = []
    for (let i = 0; i < BACKUPS; i++) {
      const archive = await server.download('/backup')
      const files = gnuUntar(archive)
      expect(Object.keys(files)).toEqual(['panel.db', '.env'])
      inFolder((folder) => {
        const copy = join(folder, 'copy.db')
        writeFileSync(copy, files['panel.db'] as Buffer)
        expect(verdict(copy)).toBe('ok')
        withConnection(copy, (raw) => {
          expect(findFaults(raw, '2020-01-01T00:00:00')).toEqual([])
          counts.push(
            raw
              .prepare("select count(*) from payments where status = 'paid'")
              .pluck()
              .get() as number,
          )
        })
      })
    }
    await writer.stop()
    const [, granted = '0', ms = '1'] = /granted (\d+) in (\d+) ms\n$/.exec(writer.stdout()) ?? []
    const perSecond = Math.round((Number(granted) / Number(ms)) * 1000)
    console.log(
      `${runtime}: ${BACKUPS} backups, ${counts[0]} to ${counts.at(-1)} grants in them, ${perSecond} grants/s meanwhile`,
    )
    expect(new Set(counts).size).toBe(BACKUPS)
    expect(counts).toEqual([...counts].sort((x, y) => x - y))
    // Another machine's load may slow the writer, but it must have been at work.
    expect(perSecond).toBeGreaterThan(WRITES_PER_SECOND / 5)
  },
)
