/** Updates under way: whose turn it is, and how far Telegram may forget them. */
import type { Context } from 'grammy/web'
import type { Log } from '#src/lib/log.ts'
import { within } from '#src/lib/pause.ts'
import { MINUTE_MS } from '#src/lib/time.ts'

type Update = Context['update']

export interface Inbox {
  /** The `offset` of getUpdates: everything below it has been handled. */
  offset(): number
  /** Begins the handlers of those that are new. */
  take(updates: Update[]): void
  /** Resolves when the handlers that were begun have ended. */
  drained(): Promise<void>
}

/** What Telegram gives a shop of any size to do in this time is done by then. */
const HANDLER_LIMIT_MS = MINUTE_MS

const senderOf = (update: Update): number => {
  const content =
    update.message ?? update.callback_query ?? update.pre_checkout_query ?? update.my_chat_member
  return content?.from?.id ?? 0
}

/**
 * Hands updates to `handle`, which never rejects: one after another for a person, at the same time for different ones. An update
 * counts as handled when its handler has ended or had `handlerLimitMs` (a minute).
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
  /** The end of what each person has under way. */
  const lanes = new Map<number, Promise<void>>()
  const unfinished = new Set<number>()
  /** Those that Telegram may send once more. */
  const taken = new Set<number>()
  let next = 0

  const offset = () => unfinished.values().next().value ?? next
  const run = async (update: Update) => {
    const inTime = await within(handlerLimitMs, handle(update))
    if (!inTime) log.error('an update takes too long', { update: update.update_id })
    unfinished.delete(update.update_id)
  }
  const begin = (update: Update) => {
    const sender = senderOf(update)
    const lane = (lanes.get(sender) ?? Promise.resolve()).then(() => run(update))
    lanes.set(sender, lane)
    void lane.then(() => {
      if (lanes.get(sender) === lane) lanes.delete(sender)
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
        unfinished.add(id)
        begin(update)
      }
      const forgotten = offset()
      for (const id of taken) if (id < forgotten) taken.delete(id)
    },
    async drained() {
      await Promise.all(lanes.values())
    },
  }
}
