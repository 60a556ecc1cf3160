/**
 * A worker thread that answers calls by their command: `tell` with all it was told, `ask` with what the database knows, `fail` with a
 * NodeError, `wait` never, `hang` never, holding the thread up for 4 s, `throw` by its end.
 */
import { type MessagePort, parentPort } from 'node:worker_threads'
import {
  packFault,
  packText,
  type SshCall,
  type SshFact,
  type SshOrder,
  type SshReport,
} from '#src/integrations/nodes/ssh-words.ts'
import { NodeError } from '#src/lib/errors.ts'
import { LEAVE } from '#src/lib/thread.ts'

const port = parentPort as MessagePort
const say = (report: SshReport) => port.postMessage(report)
const answer = (call: number, text: string) =>
  say({ type: 'done', call, answer: packText(new TextEncoder().encode(text)) })
const heard: string[] = []
const facts: unknown[] = []
let asking = 0

function ask(shell: number, question: number, fact: SshFact): void {
  say({ type: 'question', question, shell, fact })
}

function perform({ call, shell, command, pinned, input }: SshCall): void {
  const [word] = command.split(' ')
  if (word === 'tell') {
    answer(call, JSON.stringify({ heard, pinned, input: new TextDecoder().decode(input) }))
  }
  if (word === 'ask') {
    asking = call
    ask(shell, 1, { about: 'pinned' })
    ask(shell, 2, { about: 'admit', key: 'a key' })
    ask(shell, 3, { about: 'privateKey' })
  }
  if (word === 'fail') {
    say({ type: 'failed', call, fault: packFault(new NodeError('host-key', 'another one')) })
  }
  if (word === 'hang') for (const end = performance.now() + 4000; performance.now() < end; );
  if (word === 'throw') throw new Error('a fault')
}

port.on('message', (order: SshOrder) => {
  if (order === LEAVE) return port.close()
  heard.push(order.type)
  if (order.type === 'call') perform(order)
  if (order.type === 'ping') say({ type: 'pong' })
  if (order.type === 'told') facts.push(order.fact)
  if (order.type === 'not-told') facts.push(order.fault)
  if (facts.length === 3) answer(asking, JSON.stringify(facts.splice(0)))
})
