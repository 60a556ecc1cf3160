/** Part `resets`: list fetches while the traffic periods of all customers end at once, against fetches alone. */
import { join } from 'node:path'
import { withConnection } from '#db/engine/sqlite/snapshot.ts'
import { pacedLoad } from './backup.ts'
import { type Figure, median } from './figures.ts'
import type { Options } from './options.ts'
import { type Runtime, startServer } from './processes.ts'
import { dataFolder, timestamp } from './seed.ts'
import { serviceEnvironment } from './sub.ts'

const SECONDS = 3
const LOOK_MS = 100
/** The service looks for periods that have ended at its start, and then each minute. */
const DUE_IN_MS = 20_000

/** Ends the period of as many subscriptions as there are customers, at one moment. */
const END_PERIODS = `UPDATE subscriptions SET quota_bytes = 1 << 40, quota_period = 'month', used_bytes = 1 << 30,
    quota_anchor = created_at, resets_at = :at
  WHERE seq IN (SELECT seq FROM subscriptions WHERE active = 1 LIMIT :users)`
const DUE = 'SELECT count(*) FROM subscriptions WHERE active = 1 AND resets_at = :at'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Fetches before periods end, meanwhile, and then as often again; how long the ending took. */
async function measureOnce(options: Options, runtime: Runtime, folder: string) {
  const { users } = options
  const env = serviceEnvironment(await dataFolder(folder, users))
  const file = join(folder, 'panel.db')
  const at = timestamp(Date.now() + DUE_IN_MS)
  withConnection(file, (raw) => raw.prepare(END_PERIODS).run({ at, users }))
  const server = await startServer(runtime, 'src/main.ts', env)
  let left = users
  let [begunMs, endedMs] = [0, 0]
  const watched = (async () => {
    while (left > 0) {
      await pause(LOOK_MS)
      left = withConnection(file, (raw) => raw.prepare(DUE).pluck().get({ at }) as number)
      if (left < users && begunMs === 0) begunMs = performance.now()
    }
    endedMs = performance.now()
  })()
  const p99 = { before: [] as number[], during: [] as number[], after: [] as number[] }
  const now = () => (endedMs > 0 ? 'after' : begunMs > 0 ? 'during' : 'before')
  while (p99.after.length < Math.max(1, p99.during.length)) {
    const first = now()
    const { p99Ms } = await pacedLoad(server, users, SECONDS)
    // One in which it changed tells of both.
    if (now() === first) p99[first].push(p99Ms)
  }
  await watched
  await server.stop()
  // The first ones met a service that had just started.
  const alone = [...p99.before.slice(-p99.during.length), ...p99.after]
  return { during: p99.during, alone, seconds: (endedMs - begunMs) / 1000 }
}

/** Part `resets`. */
export async function measureResets(
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const runs: Awaited<ReturnType<typeof measureOnce>>[] = []
  for (let run = 0; run < Math.min(3, options.runs); run++) {
    runs.push(await measureOnce(options, runtime, join(folder, `${run}`)))
  }
  const p99 = (of: 'during' | 'alone') => median(runs.flatMap((run) => run[of]))
  const own = { part: 'resets', runtime: runtime.name }
  return [
    {
      ...{ ...own, name: '/sub p99 while periods end, times that alone', unit: '', atMost: 2 },
      value: p99('during') / p99('alone'),
    },
    { ...own, name: '/sub p99 while periods end', value: p99('during'), unit: 'ms' },
    { ...own, name: '/sub p99 alone', value: p99('alone'), unit: 'ms' },
    {
      ...{ ...own, name: `until ${options.users} periods have ended`, unit: 's' },
      value: median(runs.map(({ seconds }) => seconds)),
    },
  ]
}
