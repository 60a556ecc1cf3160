/**
 * A worker thread that answers no question but `gifts`, ends at `events`, reads for some seconds at `payments`, where nothing can
 * interrupt it, and answers `audit` after 150 ms with the number of its questions.
 */
import { type MessagePort, parentPort } from 'node:worker_threads'
import type { ReadAnswer, ReadWord } from '#src/integrations/read-thread.ts'
import { LEAVE } from '#src/lib/thread.ts'

const port = parentPort as MessagePort
let questions = 0
const answer = (total: number) =>
  port.postMessage({ type: 'result', result: { rows: [], total } } satisfies ReadAnswer)

const COUNT =
  'with recursive n (i) as (select 1 union all select i + 1 from n where i < ?) select count(*) from n'
const LONG_MS = 5000
const SAMPLE = 500_000

/** One statement of about LONG_MS, however fast the machine is. */
async function readLong(): Promise<void> {
  const { default: Sqlite } = await import('better-sqlite3')
  const count = new Sqlite(':memory:').prepare(COUNT)
  const sample = () => {
    const begun = performance.now()
    count.get(SAMPLE)
    return performance.now() - begun
  }
  // The quickest of some: one that was held up would make the statement too short.
  const ms = Math.min(...Array.from({ length: 5 }, sample))
  count.get(Math.ceil((SAMPLE * LONG_MS) / ms))
}

port.on('message', (word: ReadWord) => {
  if (word === LEAVE) return port.close()
  const { name } = word
  questions++
  if (name === 'gifts') answer(0)
  if (name === 'events') process.exit()
  if (name === 'payments') void readLong()
  if (name === 'audit') setTimeout(answer, 150, questions)
})
