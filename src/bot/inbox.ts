/** Updates under way: whose turn it is, and how far Telegram may forget them. */
import type { Context } from 'grammy/web'
import type { Log } from '#src/lib/log.ts'
import { within } from '#src/lib/pause.ts'
import { MINUTE_MS } from '#src/lib/time.ts'
import { isCharge, isChatter } from './flood.ts'

type Update = Context['update']

export interface Inbox {
  /** The `offset` of getUpdates: everything below it has been handled, or is so far back that what is new would not be seen. */
  offset(): number
  /** Begins the handlers of those that are new. */
  take(updates: Update[]): void
  /** Resolves when the handlers that were begun have ended. */
  drained(): Promise<void>
}

/** What Telegram gives a shop of any size to do in this time is done by then. */
const HANDLER_LIMIT_MS = MINUTE_MS

/**
 * Telegram shows 100 updates from the offset on. Of these so many may be under way; if more were, nothing new would be seen while
 * they last. What falls behind is handled all the same, but does not come again when the process is killed meanwhile.
 */
const MOST_BEHIND = 50
/** Of one person's messages and taps so many are under way or wait; what they send above that is left out. */
const MOST_OF_ONE = 20

const senderOf = (update: Update): number => {
  const content =
    update.message ?? update.callback_query ?? update.pre_checkout_query ?? update.my_chat_member
  return content?.from?.id ?? 0
}

/**
 * Hands updates to `handle`, which never rejects: one after another for a person, at the same time for different ones. An update
 * counts as handled when its handler has ended or had `handlerLimitMs` (a minute); what tells of Stars only when it has ended, as
 * nobody tells of them again.
 */
export function createInbox({
  log,
  handle,
  handlerLimitMs = HANDLER_LIMIT_MS,
}: {
  log: Log
  handle(update: Update): Promise<void>
  handlerLimitMs?: number | undefined
}): Inbox {
  /** The end of what each person has under way, and how much it is. */
  const lanes = new Map<number, { end: Promise<void>; length: number }>()
  const unfinished = new Set<number>()
  /** Those that Telegram may send once more. */
  const taken = new Set<number>()
  let next = 0

  const offset = () => Math.max(unfinished.values().next().value ?? next, next - MOST_BEHIND)
  const run = async (update: Update) => {
    const handled = handle(update)
    const inTime = await within(handlerLimitMs, handled)
    if (!inTime) log.error('an update takes too long', { update: update.update_id })
    if (isCharge(update)) await handled
    unfinished.delete(update.update_id)
  }
  const begin = (update: Update) => {
    const sender = senderOf(update)
    const lane = lanes.get(sender) ?? { end: Promise.resolve(), length: 0 }
    if (lane.length >= MOST_OF_ONE && isChatter(update)) return
    lanes.set(sender, lane)
    lane.length++
    unfinished.add(update.update_id)
    lane.end = lane.end.then(async () => {
      await run(update)
      lane.length--
      if (lane.length === 0) lanes.delete(sender)
    })
  }
  return {
    offset,
    take(updates) {
      for (const update of updates) {
        const id = update.update_id
        if (!Number.isSafeInteger(id)) continue
        next = id + 1
        if (taken.has(id)) continue
        taken.add(id)
        begin(update)
      }
      const forgotten = offset()
      for (const id of taken) if (id < forgotten) taken.delete(id)
    },
    async drained() {
      await Promise.all([...lanes.values()].map(({ end }) => end))
    },
  }
}
