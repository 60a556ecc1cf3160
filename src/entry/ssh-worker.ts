/**
 * The worker thread of SSH connections: whatever a managed node's server sends is read, decrypted and answered here, so that it holds up
 * nobody but other nodes' calls. What the database knows is asked of the thread that started this one.
 */
import { setPriority } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type SshRunner, sshRunner } from '#src/integrations/nodes/ssh.ts'
import type { SshFacts } from '#src/integrations/nodes/ssh-connection.ts'
import {
  packFault,
  packText,
  type SshCall,
  type SshFact,
  type SshOrder,
  type SshReport,
  type SshSettings,
  unpackFault,
} from '#src/integrations/nodes/ssh-words.ts'
import { createConnect } from '#src/integrations/outbound-connect.ts'
import { systemClock } from '#src/lib/clock.ts'
import { nextTurn } from '#src/lib/event-loop.ts'
import { LEAVE } from '#src/lib/thread.ts'

/** For the last words to servers; whoever is being resolved or connected to is not waited for. */
const LEAVING_MS = 200
/** A quarter of a processor on which requests want all: who was granted something waits for this thread, too. */
const PRIORITY = 5

const port = parentPort as MessagePort
const connect = createConnect(workerData as SshSettings)
const runners = new Map<number, SshRunner>()
const calls = new Map<number, AbortController>()
const questions = new Map<number, PromiseWithResolvers<unknown>>()
let asked = 0

// Lets requests go first. Linux has a priority for each thread; elsewhere it would be the process's.
if (process.platform === 'linux') setPriority(0, PRIORITY)

const say = (report: SshReport, transfer: ArrayBuffer[] = []) => port.postMessage(report, transfer)

function ask<T>(shell: number, fact: SshFact): Promise<T> {
  const question = ++asked
  const answered = Promise.withResolvers<unknown>()
  questions.set(question, answered)
  say({ type: 'question', question, shell, fact })
  return answered.promise.finally(() => questions.delete(question)) as Promise<T>
}

const factsOf = (shell: number): SshFacts => ({
  pinned: () => ask(shell, { about: 'pinned' }),
  admit: (key) => ask(shell, { about: 'admit', key }),
  privateKey: () => ask(shell, { about: 'privateKey' }),
})

function runnerOf({ shell, server }: SshCall): SshRunner {
  const known = runners.get(shell)
  const runner = known ?? sshRunner({ connect, server, facts: factsOf(shell) }, systemClock)
  runners.set(shell, runner)
  return runner
}

async function perform(order: SshCall): Promise<void> {
  const { call, command, input, pinned } = order
  const off = new AbortController()
  calls.set(call, off)
  const runner = runnerOf(order)
  try {
    // Where this thread was held up, the word that calls it off is right behind it.
    await nextTurn()
    off.signal.throwIfAborted()
    const answer = packText(await runner.run(command, input, pinned, off.signal))
    say({ type: 'done', call, answer }, [answer.bytes.buffer])
  } catch (error) {
    say({ type: 'failed', call, fault: packFault(error) })
  } finally {
    calls.delete(call)
  }
}

function leave(): void {
  for (const off of calls.values()) off.abort()
  for (const runner of runners.values()) runner.close()
  port.close()
  setTimeout(() => process.exit(), LEAVING_MS).unref()
}

port.on('message', (order: SshOrder) => {
  if (order === LEAVE) return leave()
  switch (order.type) {
    case 'call':
      void perform(order)
      break
    case 'call-off':
      calls.get(order.call)?.abort()
      break
    case 'close':
      runners.get(order.shell)?.close()
      runners.delete(order.shell)
      break
    case 'told':
      questions.get(order.question)?.resolve(order.fact)
      break
    case 'not-told':
      questions.get(order.question)?.reject(unpackFault(order.fault))
      break
    case 'ping':
      say({ type: 'pong' })
  }
})
