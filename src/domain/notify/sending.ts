/** When events and messages are sent: right after the commit that wrote them, and by the scheduler's sweep for what that missed. */
import {
  type EventAttempt,
  hasReadyEvents,
  listEventsUnderWay,
  noteEventResults,
} from '#db/events.ts'
import {
  expireMessages,
  hasDueMessages,
  hasExpiredMessages,
  listMessagesUnderWay,
  type MessageTry,
  postponeMessage,
} from '#db/messages.ts'
import type { BatchWorker } from '#src/lib/batch-worker.ts'
import { formatTimestamp, SECOND_MS, timestampBefore } from '#src/lib/time.ts'
import type { Queue, Services } from '#src/services.ts'
import { createEventDelivery } from './event-delivery.ts'
import { createMessageSender, MESSAGE_TTL_MS } from './message-sender.ts'

type Deps = Pick<
  Services,
  'db' | 'config' | 'clock' | 'log' | 'fatal' | 'background' | 'telegram' | 'eventSender'
>

/** `nudge` and `endSending` of a process. */
export function createSending(s: Deps): Pick<Services, 'nudge' | 'endSending'> {
  const workers: Record<Queue, BatchWorker> = {
    events: createEventDelivery(s),
    messages: createMessageSender(s),
  }
  const waits: Record<Queue, () => Promise<boolean>> = {
    events: () => s.db.read(hasReadyEvents),
    messages: () => s.db.read((q) => hasDueMessages(q, formatTimestamp(s.clock.now()))),
  }
  return {
    nudge(queue) {
      s.background.run(`sending ${queue}`, async () => {
        if (await waits[queue]()) await workers[queue].start()
      })
    },
    endSending() {
      for (const worker of Object.values(workers)) worker.stop()
    },
  }
}

/** An attempt takes 10 s at most, and noting its result seconds: what is under way for so long has lost its process. */
const LOST_AFTER_MS = 30 * SECOND_MS

/** Tells which attempts are lost: those that were under way at looks so far apart, by this process's own clock. */
function createWatch(clock: Services['clock']) {
  let seen = new Map<string, number>()
  return <T extends { id: string | number; attempts: number }>(underWay: T[]): T[] => {
    const now = clock.monotonicMs()
    const keyOf = ({ id, attempts }: T) => `${id} ${attempts}`
    seen = new Map(underWay.map((one) => [keyOf(one), seen.get(keyOf(one)) ?? now]))
    return underWay.filter((one) => now - (seen.get(keyOf(one)) as number) >= LOST_AFTER_MS)
  }
}

type SweepDeps = Pick<Services, 'db' | 'clock' | 'log' | 'nudge'>

/** An event whose attempt was lost is not sent again: it may have arrived. */
async function interruptEvents(s: SweepDeps, lost: EventAttempt[]): Promise<void> {
  if (lost.length === 0) return
  const end = { status: 'interrupted', httpStatus: null, error: 'the process ended' } as const
  await s.db.tx((tx) =>
    noteEventResults(
      tx,
      lost.map((one) => ({ ...one, ...end })),
    ),
  )
  s.log.warn('events were interrupted and are not sent again', { count: lost.length })
}

/** A message is: better twice than never. */
async function retryMessages(s: SweepDeps, lost: MessageTry[], now: string): Promise<void> {
  if (lost.length === 0) return
  await s.db.tx(function* (tx) {
    for (const one of lost) yield* postponeMessage(tx, one, { nextTryAt: now, error: null })
  })
  s.log.warn('messages were interrupted and are sent again', { count: lost.length })
}

/** One look at what waits, is lost, or is too old. For a single runner, which keeps the function. */
export function createSweep(s: SweepDeps): () => Promise<void> {
  const lostEvents = createWatch(s.clock)
  const lostMessages = createWatch(s.clock)
  let from = 0
  return async () => {
    const at = s.clock.now()
    const now = formatTimestamp(at)
    await interruptEvents(s, lostEvents(await s.db.read(listEventsUnderWay)))
    const messages = await s.db.read((q) => listMessagesUnderWay(q, from))
    from = messages.from
    await retryMessages(s, lostMessages(messages.tries), now)
    const since = timestampBefore(at, MESSAGE_TTL_MS)
    if (await s.db.read((q) => hasExpiredMessages(q, since))) {
      await s.db.tx((tx) => expireMessages(tx, since, now, 'not delivered within 24 hours'))
    }
    s.nudge('events')
    s.nudge('messages')
  }
}
