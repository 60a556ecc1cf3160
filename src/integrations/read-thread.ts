/** Long reads in a thread of their own (src/entry/read-worker.ts), which is started by the first one and again after its end. */
import { join } from 'node:path'
import { type Telling, toldError } from '#db/engine/failures.ts'
import type { ReadInput, ReadName, ReadResult } from '#db/reads.ts'
import { errorMessage } from '#src/lib/errors.ts'
import { createLimiter, type Limiter } from '#src/lib/limiter.ts'
import type { Log } from '#src/lib/log.ts'
import { within } from '#src/lib/pause.ts'
import { type LEAVE, startThread, type Thread } from '#src/lib/thread.ts'
import { MINUTE_MS } from '#src/lib/time.ts'
import type { Reads } from '#src/ports/reads.ts'
import { refusal } from '#src/refusals/index.ts'

export interface ReadQuestion {
  name: ReadName
  input: ReadInput<ReadName>
}

/** What the thread hears: a question, or that it is to end. */
export type ReadWord = ReadQuestion | typeof LEAVE

export type ReadAnswer = { type: 'result'; result: unknown } | ({ type: 'failed' } & Telling)

const WORKER = join(import.meta.dirname, '..', 'entry', 'read-worker.ts')
/** Each waits for all before it: behind so many nobody waits any more. */
const MAX_WAITING = 100
const LIMIT_MS = 10_000
/** Who has waited so long for their turn has gone, or will try again. */
const WAIT_MS = 15_000
/** A thread that nobody asks gives its memory back. */
const REST_MS = 5 * MINUTE_MS
/** How long a question waits for the thread before its own to be gone: long enough for one that reads nothing. */
const LEAVE_MS = 1000
/** A page of rows and no more (Node; Bun has no such limits). */
const MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 }

const busy = () => refusal('too-busy')

/**
 * `work` in its turn, unless that takes longer than `waitMs` to come, or nobody waits for it any more: then it is refused with 503,
 * and never begun.
 */
async function inTime<T>(
  turn: Limiter,
  waitMs: number,
  gone: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const refuse = () => over.abort(busy())
  const timer = setTimeout(refuse, waitMs)
  gone?.addEventListener('abort', refuse)
  if (gone?.aborted) refuse()
  const stopWaiting = () => {
    clearTimeout(timer)
    gone?.removeEventListener('abort', refuse)
  }
  try {
    return await turn(() => {
      stopWaiting()
      return work()
    }, over.signal)
  } finally {
    stopWaiting()
  }
}

/**
 * The Reads of a process, on the database at `path`. A read that takes longer than `limitMs` is given up with its thread; those
 * behind it go on in a new one when that has ended, which is when the read has: there are never two.
 */
export function createReads(
  path: string,
  log: Log,
  { limitMs = LIMIT_MS, waitMs = WAIT_MS, restMs = REST_MS, worker = WORKER } = {},
): Reads {
  const turn = createLimiter(1, MAX_WAITING)
  let thread: Thread | null = null
  let leaving: Promise<unknown> | null = null
  let rest: NodeJS.Timeout | undefined
  let isClosed = false

  const start = () => {
    const started = startThread(worker, { workerData: path, resourceLimits: MEMORY })
    const forget = () => {
      if (thread === started) thread = null
    }
    started.worker.on('error', (error) => {
      forget()
      log.error('the thread of long reads ended', { reason: errorMessage(error) })
    })
    started.worker.on('exit', forget)
    thread = started
    return started
  }
  const end = () => {
    clearTimeout(rest)
    const ended = thread
    if (!ended) return
    thread = null
    // What it reads is read to its end first.
    leaving = ended.leave().finally(() => {
      leaving = null
    })
  }
  /** The thread to ask. Throws 503 while a former one reads on. */
  const ready = async (): Promise<Thread> => {
    if (leaving) await within(LEAVE_MS, leaving)
    if (isClosed || leaving) throw busy()
    clearTimeout(rest)
    return thread ?? start()
  }

  const ask = ({ worker: asked }: Thread, question: ReadQuestion): Promise<ReadAnswer> =>
    new Promise((resolve, reject) => {
      let isSettled = false
      const settle = (finish: () => void) => {
        if (isSettled) return
        isSettled = true
        clearTimeout(timer)
        asked.off('message', hear).off('exit', vanish)
        // A thread that rests keeps no process from ending.
        asked.unref()
        rest = setTimeout(end, restMs).unref()
        finish()
      }
      const hear = (answer: ReadAnswer) => settle(() => resolve(answer))
      const vanish = () => settle(() => reject(refusal('list-not-read')))
      const giveUp = () =>
        settle(() => {
          log.error('a read took too long and is given up', { read: question.name })
          end()
          reject(refusal('reading-too-long'))
        })
      // Where this thread was held up itself, the answer has come meanwhile and is heard first.
      const timer = setTimeout(() => setImmediate(giveUp), limitMs)
      asked.ref()
      asked.on('message', hear).on('exit', vanish)
      asked.postMessage(question)
    })

  const askFor =
    (gone?: AbortSignal): Reads['ask'] =>
    <K extends ReadName>(name: K, ...input: ReadInput<K>) =>
      inTime(turn, waitMs, gone, async () => {
        const answer = await ask(await ready(), { name, input })
        if (answer.type === 'result') return answer.result as ReadResult<K>
        throw toldError(answer)
      })
  const reads: Reads = {
    ask: askFor(),
    for: (gone) => ({ ...reads, ask: askFor(gone) }),
    async close() {
      isClosed = true
      end()
      await leaving
    },
  }
  return reads
}
