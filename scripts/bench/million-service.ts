/** The service on a large shop, in this process: asked without a socket, its stalls noted. */
import { openSync, readSync } from 'node:fs'
import { compose } from '#src/compose.ts'
import { loadConfig } from '#src/config.ts'
import { createApp } from '#src/http/app.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'

/** What Linux counts of the main thread, in milliseconds: on a processor, and ready for one that other programs had. */
function createThreadTimes(): () => { ranMs: number; waitedMs: number } {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
  const text = Buffer.alloc(100)
  return () => {
    const fields = text.toString('latin1', 0, readSync(file, text, 0, text.length, 0)).split(' ')
    return { ranMs: Number(fields[0]) / 1e6, waitedMs: Number(fields[1]) / 1e6 }
  }
}

const threadTimes = createThreadTimes()

/** What some work cost the event loop, at the worst of its turns. */
export interface Hold {
  /** How long it held all else up: working, or waiting for the disk or another thread; not for processors that other programs had. */
  stallMs: number
  /** How much of one turn it worked itself: the stall on a machine that has nothing else to do. */
  turnMs: number
}

/** How often is looked: not all the time, which would take the processor of a thread that reads. */
const LOOK_MS = 1

/** The longest that `work` held the event loop up. */
export async function longestHold(work: () => Promise<unknown>): Promise<Hold> {
  const longest = { stallMs: 0, turnMs: 0 }
  const times = () => {
    const { ranMs, waitedMs } = threadTimes()
    return { atMs: performance.now() - waitedMs, ranMs }
  }
  let last = times()
  let timer: NodeJS.Timeout
  const look = () => {
    const now = times()
    longest.stallMs = Math.max(longest.stallMs, now.atMs - last.atMs - LOOK_MS)
    longest.turnMs = Math.max(longest.turnMs, now.ranMs - last.ranMs)
    last = now
    timer = setTimeout(look, LOOK_MS)
  }
  timer = setTimeout(look, LOOK_MS)
  await work()
  // What was under way when the answer came.
  await new Promise((resolve) => setImmediate(resolve))
  clearTimeout(timer)
  look()
  clearTimeout(timer)
  return longest
}

/** Milliseconds of processor that this process has used since then, all its threads together. */
export function cpuSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** The services of the environment's data folder, and what an admin is answered. */
export async function openService() {
  const config = loadConfig(process.env, process.cwd(), GATEWAYS)
  const { services } = await compose(config, { init: false })
  const app = createApp(services)
  const origin = `http://${config.domains.panel}`
  let cookie = ''
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { host: config.domains.panel, cookie, ...init.headers }
    const response = await app(new Request(origin + path, { ...init, headers }), {
      peer: '127.0.0.1',
    })
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}`)
    return response
  }
  const login = JSON.stringify({ username: 'admin', password: config.panelPassword })
  const entered = await ask('/admin/api/login', { method: 'POST', body: login })
  cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  const close = async () => {
    // A thread that rests keeps no process running, and nothing else does here.
    const awake = setInterval(() => {}, 1000)
    await services.reads.close()
    clearInterval(awake)
    services.db.close()
  }
  return { services, ask, close }
}
