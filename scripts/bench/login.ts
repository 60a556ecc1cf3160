/** Part `login`: 50 logins at once from 50 addresses, and how long everything else waits for the event loop meanwhile. */
import { readFileSync } from 'node:fs'
import { type Figure, median } from './figures.ts'
import { lagP99Ms, type Stall } from './lag.ts'
import type { Options } from './options.ts'
import { type Runtime, type Server, startServer } from './processes.ts'
import { serviceEnvironment } from './sub.ts'

const LOGINS = 50
const REST_MS = 1000

/** A stretch of time, in milliseconds since 1970. */
interface Stretch {
  from: number
  to: number
}

const now = () => performance.timeOrigin + performance.now()
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Logs in from 50 addresses at once; each login costs a hash and ends in a session. */
async function logInAtOnce(server: Server, password: string, burst: number): Promise<Stretch> {
  const from = now()
  const answers = await Promise.all(
    Array.from({ length: LOGINS }, async (_, i) => {
      const response = await fetch(`http://127.0.0.1:${server.port}/admin/api/login`, {
        method: 'POST',
        headers: { 'x-real-ip': `10.${burst}.0.${i}` },
        body: JSON.stringify({ username: 'admin', password }),
      })
      await response.text()
      return response.status
    }),
  )
  const refused = answers.find((status) => status !== 200)
  if (refused) throw new Error(`a login was answered with ${refused}`)
  return { from, to: now() }
}

/** Part `login`. The first burst warms the process up and is not counted. */
export async function measureLogin(
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const file = `${folder}/stalls.json`
  const env = serviceEnvironment(folder)
  const server = await startServer(runtime, 'scripts/bench/login-server.ts', {
    ...env,
    LAG_FILE: file,
  })
  const password = env.PANEL_PASSWORD as string
  await logInAtOnce(server, password, 0)
  const bursts: Stretch[] = []
  const rests: Stretch[] = []
  for (let run = 1; run <= options.runs; run++) {
    const from = now()
    await pause(REST_MS)
    rests.push({ from, to: now() })
    bursts.push(await logInAtOnce(server, password, run))
  }
  await server.stop()
  const stalls = JSON.parse(readFileSync(file, 'utf8')) as Stall[]
  const p99 = (all: Stretch[]) => median(all.map(({ from, to }) => lagP99Ms(stalls, from, to)))
  const own = { part: 'login', runtime: runtime.name }
  return [
    {
      ...{ ...own, name: `loop lag p99, ${LOGINS} logins at once`, unit: 'ms', atMost: 25 },
      value: p99(bursts),
    },
    { ...own, name: 'loop lag p99 at rest', value: p99(rests), unit: 'ms' },
    {
      ...{ ...own, name: `all ${LOGINS} logins answered`, unit: 'ms' },
      value: median(bursts.map(({ from, to }) => to - from)),
    },
  ]
}
