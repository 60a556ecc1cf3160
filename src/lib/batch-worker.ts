/** Work that waits in a database: taken in batches, done side by side, and its results noted in batches. */
import { pause } from './pause.ts'

export interface BatchWorker {
  /** Takes work up soon; resolves when none is left. Null while it is at it already: then it looks again. */
  start(): Promise<void> | null
  /** Takes nothing more up; what is under way is finished and noted. */
  stop(): void
}

interface Options<Item, Result> {
  /** How much is done at a time. */
  slots: number
  /** Notes the results and takes at most `free` items, in one transaction. */
  exchange(results: Result[], free: number): Promise<Item[]>
  /** Never rejects. */
  work(item: Item): Promise<Result>
  /** Whether more urgent work waits: an exchange is put off while it does, for a second at most. */
  isUrgent?: () => boolean
}

/** What ends or comes within this time shares a transaction; the first one is never in the turn of whoever called `start`. */
const GATHER_MS = 10
/** How long urgent work may go first, and how often that is looked at. */
const URGENT_MS = 1000
const LOOK_MS = 25
/** Results are too dear to be dropped for a busy database. */
const NOTE_TRIES = 5
const NOTE_AGAIN_MS = 1000

/** A worker that rejects, and can be started again, when `exchange` fails for good: never while anything is under way. */
export function createBatchWorker<Item, Result>(options: Options<Item, Result>): BatchWorker {
  const { slots, work } = options
  let stopped = false
  let running: Promise<void> | null = null
  let asked = false
  let wake = () => {}

  const run = async () => {
    const finished: Result[] = []
    let underWay = 0
    let failures = 0
    const begin = async (item: Item) => {
      underWay++
      finished.push(await work(item))
      underWay--
      wake()
    }
    const something = () =>
      new Promise<void>((resolve) => {
        wake = resolve
        if (asked || finished.length > 0) resolve()
      })
    /** Notes what has ended and takes more up. After a failure it is to be tried again, unless there is nothing to lose. */
    const exchange = async (): Promise<Item[]> => {
      const results = finished.splice(0)
      try {
        const items = await options.exchange(results, stopped ? 0 : slots - underWay)
        failures = 0
        return items
      } catch (error) {
        failures++
        finished.unshift(...results)
        if (underWay === 0 && (finished.length === 0 || failures >= NOTE_TRIES)) throw error
        await pause(NOTE_AGAIN_MS)
        asked = true
        return []
      }
    }
    const letUrgentFirst = async () => {
      for (let ms = 0; ms < URGENT_MS && options.isUrgent?.(); ms += LOOK_MS) await pause(LOOK_MS)
    }
    do {
      await something()
      await pause(GATHER_MS)
      await letUrgentFirst()
      asked = false
      for (const item of await exchange()) void begin(item)
    } while (asked || underWay > 0 || finished.length > 0)
  }
  const runOnce = async () => {
    try {
      await run()
    } finally {
      // In the turn of its end, or a `start` between the two would be lost.
      running = null
    }
  }
  return {
    start() {
      asked = true
      wake()
      if (running !== null) return null
      running = runOnce()
      return running
    },
    stop() {
      stopped = true
    },
  }
}
