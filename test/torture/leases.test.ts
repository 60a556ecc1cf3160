/** Three processes that could run the jobs: one does, whatever happens to it. */
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import {
  type Area,
  type Line,
  PLAIN,
  type Running,
  type Runtime,
} from '#test/support/drivers/process.ts'
import { ENGINES, useAreas, useEngines } from '#test/support/drivers/torture.ts'
import { until } from '#test/support/labs/lab.ts'

const area = useAreas()
const on = useEngines()
/** TTL 10 s, another look every 3 s, and some for a busy machine. */
const LONGEST_MS = 14_500

interface Taken {
  pid: number
  at: number
  fence: number
}

const takenBy = (a: Area): Taken[] =>
  a.lines.flatMap(({ pid, at, text }) => {
    const fence = /role taken role=scheduler fence=(\d+)/.exec(text)?.[1]
    return fence ? [{ pid, at, fence: Number(fence) }] : []
  })

/**
 * Freezes a process; where the database is a file, between two of its transactions. One frozen inside a transaction keeps SQLite's
 * write lock, and no lease can pass to anybody before it wakes or dies (docs/reliability.md).
 */
async function freeze(a: Area, process: Running): Promise<void> {
  if (a.server !== null) {
    process.signal('SIGSTOP')
    return
  }
  await until('it is frozen outside a transaction', async () => {
    process.signal('SIGSTOP')
    // A signal takes effect a moment after kill(2) has returned.
    await new Promise((resolve) => setTimeout(resolve, 20))
    const db = new Sqlite(a.database, { timeout: 0 })
    try {
      db.exec('begin immediate; rollback')
      return true
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
      process.signal('SIGCONT')
      return false
    } finally {
      db.close()
    }
  })
}

/**
 * What the statements that a server was asked come to in a process which is frozen meanwhile. A transaction gives up after 2 s of others that
 * came first: one that was frozen wakes behind all that, and who waits for its rows sees it as well.
 */
const isLate = ({ text }: Line) =>
  / (?:job|background work) failed .+ reason="(?:Query read timeout|other transactions came first again and again|timeout exceeded when trying to connect|the server has answered nobody .+)"/.test(
    text,
  )

/** The runs of jobs in the order in which they began. */
const runs = (a: Area) =>
  a.lines.flatMap(({ pid, at, text }) => {
    const fence = /job begins job=\S+ fence=(\d+)/.exec(text)?.[1]
    return fence ? [{ pid, at, fence: Number(fence) }] : []
  })

test.each(ENGINES)(
  '%s: exactly one runs the jobs, through kills, stops and an orderly end',
  async (engine) => {
    const a = area({ ...PLAIN, SYNC_INTERVAL_MS: '150', ...(await on(engine)) })
    const processes = new Map<number, Running>()
    const launch = (runtime: Runtime, entry?: string) => {
      const env = { PORT: '0' }
      const started = a.spawn({ runtime, env, ...(entry ? { entry } : {}) })
      processes.set(started.pid, started)
    }
    launch('node')
    launch('bun')
    launch('node', 'entry/scheduler.ts')
    const report: string[] = []
    const owner = async (than: number) => {
      const next = await until(
        'somebody takes the role',
        () => takenBy(a).find((taken) => taken.fence > than),
        LONGEST_MS + 3000,
      )
      await until(
        'and runs jobs',
        () => runs(a).filter((run) => run.fence === next.fence).length > 4,
      )
      return { ...next, process: processes.get(next.pid) as Running }
    }
    const timed = (what: string, from: number, next: Taken) => {
      const ms = Math.round(next.at - from)
      report.push(`${what}: ${ms} ms`)
      expect(ms).toBeLessThan(LONGEST_MS)
    }

    let current = await owner(0)
    for (const round of [1, 2]) {
      let from = performance.now()
      await current.process.kill()
      processes.delete(current.pid)
      launch(round === 1 ? 'bun' : 'node')
      let next = await owner(current.fence)
      timed('kill -9', from, next)
      current = next

      await freeze(a, current.process)
      from = performance.now()
      next = await owner(current.fence)
      timed('SIGSTOP', from, next)
      const stopped = current
      const before = a.lines.length
      stopped.process.signal('SIGCONT')
      await until('it notices', () =>
        a.lines
          .slice(before)
          .some(
            (line) =>
              line.pid === stopped.pid && line.text.includes('another process took the role over'),
          ),
      )
      current = next
    }
    const from = performance.now()
    await current.process.stop()
    const last = await owner(current.fence)
    timed('SIGTERM', from, last)
    expect(last.at - from).toBeLessThan(5000)

    console.log(`${engine}: ${report.join(', ')}`)
    // A run under an older fence never begins after one under a newer fence has.
    let newest = 0
    const late = runs(a).filter((run) => {
      newest = Math.max(newest, run.fence)
      return run.fence < newest
    })
    expect(late).toEqual([])
    // One process per fence, and the table agrees.
    const owners = new Map<number, Set<number>>()
    for (const run of runs(a))
      owners.set(run.fence, (owners.get(run.fence) ?? new Set()).add(run.pid))
    for (const [fence, pids] of owners) expect([fence, pids.size]).toEqual([fence, 1])
    expect(a.query("select fence from leases where name = 'scheduler'")).toEqual([
      { fence: last.fence },
    ])
    expect(a.lines.filter((line) => line.text.includes(' error ') && !isLate(line))).toEqual([])
  },
)
