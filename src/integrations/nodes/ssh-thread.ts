/**
 * The SSH connections of a process, in a thread of their own (src/entry/ssh-worker.ts): it is started by the first call, ended when there were
 * none for ten minutes, and replaced when it hangs or dies.
 */
import { join } from 'node:path'
import { errorMessage, NodeError } from '#src/lib/errors.ts'
import type { Log } from '#src/lib/log.ts'
import { startThread } from '#src/lib/thread.ts'
import { MINUTE_MS, SECOND_MS } from '#src/lib/time.ts'
import { fewAtATime, type NodeShell, WORD } from './shell.ts'
import { givenUp } from './ssh.ts'
import type { SshServer } from './ssh-connection.ts'
import {
  packFault,
  type SshCall,
  type SshFact,
  type SshOrder,
  type SshReport,
  type SshSettings,
  unpackFault,
  unpackText,
} from './ssh-words.ts'

const WORKER = join(import.meta.dirname, '..', '..', 'entry', 'ssh-worker.ts')
/** As long as its connections are kept. */
const REST_MS = 10 * MINUTE_MS
/** A thread that says no word for as long, asked again and again, hangs. Its turns are of milliseconds, also for a server that floods. */
const HANG_MS = 10 * SECOND_MS
const PINGS = 5
/** How much longer its start may take, on a machine that is busy. */
const START_TIMES = 6
/** Replaced ones that have not ended: more of them would take the machine away. */
const MOST_HUNG = 2
/** Connections, answers aside: they are no part of it (Node; Bun has no such limits). */
const MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 }

/** Which host keys (`type base64`) a node is known by. */
export interface HostKeys {
  /** None before the first connection. */
  pinned(): string[]
  /** Whether the server with this key is the node; pins the first one, notes a wrong one. */
  admit(key: string): Promise<boolean>
}

export interface SshNode {
  server: SshServer
  hostKeys: HostKeys
  /** OpenSSH's format. */
  privateKey(): Promise<string>
}

export interface SshShell {
  run: NodeShell
  /** Ends the connection; later calls fail. */
  close(): void
}

export interface SshThread {
  /** A shell over SSH to one node. Throws NodeError `unreachable`, `host-key`, `timeout`, `garbage` or `bad-input`. */
  shell(node: SshNode): SshShell
  /** Ends all connections, and the thread: calls under way and later ones of these shells fail. Waits for nothing. */
  close(): void
}

type Call = Omit<SshCall, 'type' | 'call'>

/** One thread, from its start to its end. */
interface Life {
  run(call: Call, signal: AbortSignal): Promise<string>
  say(order: SshOrder): void
  /** Resolves when it has ended. */
  leave(): Promise<void>
}

interface Watch {
  answer(shell: number, fact: SshFact): Promise<unknown>
  /** It has ended. */
  ended(reason: string): void
  hangs(): void
  /** No call is under way any more, or one is. */
  rests(isResting: boolean): void
}

function begin(script: string, settings: SshSettings, hangMs: number, watch: Watch): Life {
  const thread = startThread(script, { workerData: settings, resourceLimits: MEMORY })
  const { worker } = thread
  const calls = new Map<number, PromiseWithResolvers<string>>()
  let made = 0
  let unheard = 0
  let hasBegun = false
  let pings: NodeJS.Timeout | undefined

  const say = (order: SshOrder, transfer: ArrayBuffer[] = []) => worker.postMessage(order, transfer)
  const rest = (isResting: boolean) => {
    clearInterval(pings)
    // A thread that rests keeps no process from ending.
    if (isResting) worker.unref()
    else worker.ref()
    unheard = 0
    if (!isResting) pings = setInterval(() => setImmediate(listen), hangMs / PINGS)
    watch.rests(isResting)
  }
  const settle = (call: number) => {
    const under = calls.get(call)
    if (calls.delete(call) && calls.size === 0) rest(true)
    return under
  }
  const failAll = (error: NodeError) => {
    for (const call of calls.keys()) settle(call)?.reject(error)
  }
  // Where this thread was held up itself, what the other one says has come meanwhile and is heard first.
  const listen = () => {
    if (calls.size === 0) return
    if (++unheard < (hasBegun ? PINGS : START_TIMES * PINGS)) return say({ type: 'ping' })
    for (const call of calls.keys()) say({ type: 'call-off', call })
    failAll(new NodeError('unreachable', 'the connections to servers hang and are made anew'))
    watch.hangs()
  }
  const tell = async ({ question, shell, fact }: Extract<SshReport, { type: 'question' }>) => {
    try {
      say({ type: 'told', question, fact: await watch.answer(shell, fact) })
    } catch (error) {
      say({ type: 'not-told', question, fault: packFault(error) })
    }
  }
  const hear = (report: SshReport) => {
    unheard = 0
    hasBegun = true
    if (report.type === 'done') settle(report.call)?.resolve(unpackText(report.answer))
    if (report.type === 'failed') settle(report.call)?.reject(unpackFault(report.fault))
    if (report.type === 'question') void tell(report)
  }
  const end = (reason: string) => {
    watch.ended(reason)
    failAll(new NodeError('unreachable', 'the connections to servers broke down and are made anew'))
  }
  worker.on('message', hear)
  worker.on('error', (error) => end(errorMessage(error)))
  worker.on('exit', () => end('it left'))
  worker.unref()
  return {
    say,
    async run(call, signal) {
      signal.throwIfAborted()
      const number = ++made
      const under = Promise.withResolvers<string>()
      const callOff = () => {
        if (!settle(number)) return
        say({ type: 'call-off', call: number })
        under.reject(signal.reason)
      }
      calls.set(number, under)
      if (calls.size === 1) rest(false)
      signal.addEventListener('abort', callOff, { once: true })
      say({ ...call, type: 'call', call: number }, [call.input.buffer])
      try {
        return await under.promise
      } finally {
        signal.removeEventListener('abort', callOff)
      }
    },
    leave() {
      failAll(givenUp())
      return thread.leave()
    },
  }
}

/** The SshThread of a process. */
export function createSshThread(
  { denyPrivate, log }: SshSettings & { log: Log },
  { restMs = REST_MS, hangMs = HANG_MS, worker = WORKER } = {},
): SshThread {
  const nodes = new Map<number, SshNode>()
  let shells = 0
  let life: Life | null = null
  let hung = 0
  let resting: NodeJS.Timeout | undefined

  const answer: Watch['answer'] = async (shell, fact) => {
    const node = nodes.get(shell)
    if (!node) throw givenUp()
    if (fact.about === 'admit') return node.hostKeys.admit(fact.key)
    return fact.about === 'pinned' ? node.hostKeys.pinned() : node.privateKey()
  }
  const leave = () => {
    clearTimeout(resting)
    const left = life?.leave()
    life = null
    return left
  }
  const start = (): Life => {
    const started = begin(worker, { denyPrivate }, hangMs, {
      answer,
      ended(reason) {
        if (life !== started) return
        life = null
        log.error('the thread of SSH connections ended, and is started anew', { reason })
      },
      hangs() {
        log.error('the thread of SSH connections hangs and is replaced')
        hung++
        void leave()?.then(() => {
          hung--
          log.info('a thread of SSH connections that hung has ended')
        })
      },
      rests(isResting) {
        clearTimeout(resting)
        if (isResting) resting = setTimeout(leave, restMs).unref()
      },
    })
    return started
  }
  /** The thread to ask. */
  const ready = (): Life => {
    if (hung >= MOST_HUNG) throw new NodeError('unreachable', 'the connections to servers hang')
    life ??= start()
    return life
  }
  return {
    shell(node) {
      const shell = ++shells
      nodes.set(shell, node)
      const { server, hostKeys } = node
      const run = fewAtATime(async (words, input, signal) => {
        if (!nodes.has(shell)) throw givenUp()
        const call = { shell, server, command: words.join(' '), pinned: hostKeys.pinned() }
        return ready().run({ ...call, input: new TextEncoder().encode(input) }, signal)
      })
      return {
        async run(words, input, timeoutMs) {
          if (!words.every((word) => WORD.test(word))) {
            throw new NodeError('bad-input', 'a word for the node program is malformed')
          }
          return run(words, input, timeoutMs)
        },
        close() {
          if (nodes.delete(shell)) life?.say({ type: 'close', shell })
        },
      }
    },
    close() {
      nodes.clear()
      void leave()
    },
  }
}
