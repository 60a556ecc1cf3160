/** Processes with an SshShell for each of some servers (ssh-driver.ts), as tests order them about. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { SSH_USER } from '#test/support/labs/ssh-server.ts'
import { ROOT, type Runtime, runtimeBinary } from './process.ts'
import type { Aside, Order } from './ssh-driver.ts'

interface Outcome {
  ms: number
  answer?: string
  length?: number
  sha?: string
  failure?: string
  message?: string
  pinned: string[]
  refused: string[]
  log: string[]
  /** Whether the SSH library is: in the thread of SSH connections, and in the one that answers requests. */
  loaded: boolean
  isLoadedHere: boolean
  lagMs: number
}

/** Starts one for the servers at these ports on loopback. */
export function startDriver(runtime: Runtime, port: number | number[], privateKey: string) {
  const program = join(ROOT, 'test/support/drivers/ssh-driver.ts')
  const ports = [port].flat().map(String)
  const child: ChildProcess = spawn(runtimeBinary(runtime), [program, SSH_USER, ...ports], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, SSH_KEY: privateKey },
  })
  const waiting = new Map<number, (outcome: Outcome) => void>()
  let orders = 0
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, ...outcome } = JSON.parse(line)
      waiting.get(id)?.(outcome)
    })
  }
  const order = (what: Partial<Order>) =>
    new Promise<Outcome>((resolve) => {
      waiting.set(++orders, resolve)
      child.stdin?.write(`${JSON.stringify({ id: orders, node: 0, ...what })}\n`)
    })
  return {
    run: (command: string, { input = 0, timeoutMs = 10_000, node = 0 } = {}) =>
      order({ do: 'run', words: command.split(' '), input, timeoutMs, node }),
    pin: (...keys: string[]) => order({ do: 'pin', keys }),
    state: () => order({ do: 'state' }),
    /** The longest time for which its event loop was held up since it was asked last. */
    lagMs: async () => (await order({ do: 'lag' })).lagMs,
    shut: () => order({ do: 'close' }),
    /** Has the thread of SSH connections do something of its own. */
    aside: (aside: Aside) => order({ do: 'aside', aside }),
    pid: child.pid as number,
    end: () => child.kill('SIGKILL'),
  }
}

export type Driver = ReturnType<typeof startDriver>
