/** Processes with one SshShell each (ssh-driver.ts), as tests order them about. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ROOT, type Runtime, runtimeBinary } from './process.ts'
import type { Order } from './ssh-driver.ts'
import { SSH_USER } from './ssh-server.ts'

interface Outcome {
  ms: number
  answer?: string
  length?: number
  sha?: string
  failure?: string
  message?: string
  pinned: string[]
  refused: string[]
  loaded: boolean
}

/** Starts one for the server at a port on loopback. */
export function startDriver(runtime: Runtime, port: number, privateKey: string) {
  const program = join(ROOT, 'test/support/ssh-driver.ts')
  const child: ChildProcess = spawn(runtimeBinary(runtime), [program, String(port), SSH_USER], {
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
      child.stdin?.write(`${JSON.stringify({ id: orders, ...what })}\n`)
    })
  return {
    run: (command: string, { input = 0, timeoutMs = 10_000 } = {}) =>
      order({ do: 'run', words: command.split(' '), input, timeoutMs }),
    pin: (...keys: string[]) => order({ do: 'pin', keys }),
    state: () => order({ do: 'state' }),
    shut: () => order({ do: 'close' }),
    pid: child.pid as number,
    end: () => child.kill('SIGKILL'),
  }
}

export type Driver = ReturnType<typeof startDriver>
