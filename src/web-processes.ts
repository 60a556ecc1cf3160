/**
 * The web role in several processes on one port (WEB_PROCESSES): started by the process of the other roles, started again when they
 * end, ended with it. Each listens by itself; the system gives every connection to one of them.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net'
import { join } from 'node:path'
import { ConfigError } from './config.ts'
import type { CountWord } from './lib/counts.ts'
import type { Listening } from './serve.ts'
import type { Services } from './services.ts'

/** What one of them is told at its start. */
export interface Part {
  /** From 1: what the log calls it. */
  number: number
  port: number
  /** What the env file held when the service started: all have the same settings, whatever it holds by now. */
  envText: string
}

/** What it says as soon as it listens. */
export const READY = 'ready'

type Deps = Pick<Services, 'config' | 'clock' | 'log' | 'counts'>

const PROGRAM = join(import.meta.dirname, 'entry', 'web-process.ts')
const SHORTEST_WAIT_MS = 100
const LONGEST_WAIT_MS = 30_000
/** Whoever ends later than this did not end for how it was started. */
const STEADY_MS = 60_000
/** How a process ends whose database is damaged: docs/reliability.md. */
const DAMAGED = 70

/** Holds an address for as long as the process lives, or until it is closed. */
function bind(options: ListenOptions): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', reject)
    server.listen(options, () => resolve(server))
  })
}

/**
 * The port to listen on, once nobody else has it. Processes that share a port let any other of the same user join them, another
 * installation too: so the first one holds a name of it, which goes with the process.
 */
async function takePort(host: string, wanted: number): Promise<number> {
  const alone = await bind({ host, port: wanted })
  const { port } = alone.address() as AddressInfo
  try {
    await bind({ path: `\0subpanel ${host} ${port}` })
  } finally {
    await new Promise((closed) => alone.close(closed))
  }
  return port
}

interface Kept {
  /** It listens for the first time. Rejects when it ends before that. */
  ready: Promise<void>
  /** It has ended, and is not started again. */
  gone: Promise<void>
  /** Has it finish what is under way, and end. */
  end(): void
  kill(): void
}

/** Keeps one process running. */
function keep({ clock, log, counts, config }: Deps, part: Part): Kept {
  // Which engine the database has is known before settings are: as now, whatever the env file says when one is started again.
  const env = {
    ...process.env,
    DATABASE_URL: config.databaseUrl ?? `file:${config.databasePath}`,
  }
  const ready = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  let child: ChildProcess | null = null
  let timer: NodeJS.Timeout | undefined
  let isReady = false
  let isEnding = false
  let waitMs = SHORTEST_WAIT_MS

  const run = () => {
    const begun = clock.monotonicMs()
    const own = fork(PROGRAM, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env })
    child = own
    // One that is gone already says so by its end.
    const tell = (word: Part | CountWord) => own.connected && own.send(word, () => {})
    tell(part)
    const { hear, leave } = counts.admit(tell)
    own.on('message', (word: typeof READY | CountWord) => {
      if (word !== READY) return void hear(word)
      isReady = true
      ready.resolve()
    })
    const over = (code: number | null, reason: string) => {
      if (child !== own) return
      child = null
      leave()
      if (isEnding) return gone.resolve()
      if (code === DAMAGED) process.exit(DAMAGED)
      if (!isReady) {
        const said = `web process ${part.number} has ended before it listened: ${reason}`
        return ready.reject(new ConfigError(said))
      }
      if (clock.monotonicMs() - begun > STEADY_MS) waitMs = SHORTEST_WAIT_MS
      log.warn('a web process has ended and is started again', {
        ended: part.number,
        reason,
        in: `${waitMs}ms`,
      })
      timer = setTimeout(run, waitMs)
      waitMs = Math.min(LONGEST_WAIT_MS, 2 * waitMs)
    }
    own.once('exit', (code, signal) => over(code, signal ?? `exit code ${code}`))
    own.on('error', (error) => {
      // Else it is there, and only something that was wanted of it failed.
      if (own.pid === undefined) over(null, error.message)
    })
  }
  run()
  return {
    ready: ready.promise,
    gone: gone.promise,
    end() {
      isEnding = true
      clearTimeout(timer)
      if (child === null) gone.resolve()
      else if (child.connected) child.disconnect()
    },
    kill() {
      child?.kill('SIGKILL')
    },
  }
}

export interface WebProcesses extends Listening {
  /** All have ended. */
  gone: Promise<unknown>
  /** Ends all at once. */
  kill(): void
}

/** Listens with as many processes as are configured. Resolves when all do; throws the runtime's error when the port is taken. */
export async function startWebProcesses(s: Deps): Promise<WebProcesses> {
  const { host, port: wanted, webProcesses, envText } = s.config
  const port = await takePort(host, wanted)
  const kept = Array.from({ length: webProcesses }, (_, i) =>
    keep(s, { number: i + 1, port, envText }),
  )
  const kill = () => {
    for (const one of kept) one.kill()
  }
  process.on('exit', kill)
  await Promise.all(kept.map((one) => one.ready))
  const gone = Promise.all(kept.map((one) => one.gone))
  return {
    port,
    gone,
    kill,
    async close() {
      for (const one of kept) one.end()
      await gone
    },
  }
}
