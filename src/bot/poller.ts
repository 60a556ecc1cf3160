/**
 * Long polling (core.telegram.org/bots/api#getupdates): every update is handled at least once. The offset, which tells Telegram to
 * forget what is below it, follows the oldest update whose handler has not ended; a person's updates are handled one after
 * another, different people's at the same time.
 */
import { type Api, type Context, GrammyError } from 'grammy/web'
import type { Log } from '#src/lib/log.ts'
import { pause, within } from '#src/lib/pause.ts'
import { SECOND_MS } from '#src/lib/time.ts'
import { briefly, describeFault, signalOf } from './api.ts'
import { createInbox } from './inbox.ts'

type Update = Context['update']

/** What the bot answers to; Telegram sends nothing else. */
const KINDS = ['message', 'callback_query', 'pre_checkout_query', 'my_chat_member'] as const

export const LONG_POLL_SECONDS = 25
/** Telegram answers a repeated offset with one update only, when it comes within half a second (Client.cpp, process_get_updates_query). */
const REPEAT_MS = 600
const FIRST_BACKOFF_MS = 500
const LAST_BACKOFF_MS = 10 * SECOND_MS
/** Two that poll end each other's polls; who is patient leaves the other one alone. */
const CONFLICT_MS = 5 * SECOND_MS
/** How long an end waits for handlers. */
const DRAIN_MS = 5 * SECOND_MS
const CONFIRM_MS = 3 * SECOND_MS

export interface Poller {
  /** Resolves when polling has ended: `rejected` when the token is no bot's any more. */
  ended: Promise<'stopped' | 'rejected'>
  /** Ends the open poll, waits for the handlers under way and confirms what was handled. */
  stop(): Promise<void>
}

interface Options {
  api: Pick<Api, 'getUpdates' | 'deleteWebhook'>
  log: Log
  /** Handles an update. Never rejects. */
  handle(update: Update): Promise<void>
  /** Called once, when the first poll was answered. */
  onUp(): void
  /** As for `createInbox`. */
  handlerLimitMs?: number
}

const codeOf = (error: unknown) => (error instanceof GrammyError ? error.error_code : null)

/** Whether Telegram itself says that the token is no bot's: 404 for what does not look like a token. */
export const isRejection = (error: unknown) => [401, 404].includes(codeOf(error) ?? 0)

/** How long to wait after the failure number `failures`. */
export function backoffMs(error: unknown, failures: number): number {
  const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), LAST_BACKOFF_MS)
  if (!(error instanceof GrammyError)) return backoff
  if (error.error_code === 409) return Math.max(backoff, CONFLICT_MS)
  return Math.max(backoff, (error.parameters?.retry_after ?? 0) * SECOND_MS)
}

/** Failures are logged at their first and when they are over. */
function createFailureLog(log: Log) {
  let failures = 0
  return {
    count(error: unknown) {
      if (failures === 0) log.warn('the bot gets no updates', { reason: describeFault(error) })
      return ++failures
    },
    over() {
      if (failures > 0) log.info('the bot gets updates again', { failures })
      failures = 0
    },
  }
}

/** Polls until `stop` or until Telegram refuses the token. */
export function startPoller(options: Options): Poller {
  const { api, log } = options
  const ending = new AbortController()
  const { signal } = ending
  const inbox = createInbox(options)
  const failed = createFailureLog(log)
  let started = false
  let up = false
  /** Below which Telegram was told to forget updates: by the open poll, else by the last one. */
  let confirmed = 0

  const ask = () => {
    const offset = inbox.offset()
    // The first poll is short: whether polling works is known at once.
    const timeout = started ? LONG_POLL_SECONDS : 0
    const query = { offset, timeout, allowed_updates: KINDS }
    confirmed = offset
    return api.getUpdates(query, started ? signalOf(signal) : briefly(signal))
  }
  const pollOnce = async () => {
    // A webhook that somebody has set would keep all updates away.
    if (!started) await api.deleteWebhook({}, briefly(signal))
    const updates = await ask()
    if (signal.aborted) return
    started = true
    if (!up) options.onUp()
    up = true
    failed.over()
    inbox.take(updates)
    await within(REPEAT_MS, inbox.drained())
  }
  /** Waits until polling is worth another try. True when it never will be. */
  const isHopeless = async (error: unknown): Promise<boolean> => {
    if (signal.aborted) return false
    // Whether that poll arrived is not known.
    confirmed = 0
    if (isRejection(error)) return true
    if (codeOf(error) === 409) started = false
    await pause(backoffMs(error, failed.count(error)), signal)
    return false
  }
  const poll = async (): Promise<'stopped' | 'rejected'> => {
    while (!signal.aborted) {
      try {
        await pollOnce()
      } catch (error) {
        if (await isHopeless(error)) return 'rejected'
      }
    }
    return 'stopped'
  }
  const confirm = async () => {
    const offset = inbox.offset()
    if (offset === confirmed) return
    const inTime = signalOf(AbortSignal.timeout(CONFIRM_MS))
    try {
      await api.getUpdates({ offset, timeout: 0, limit: 1 }, inTime)
    } catch {
      // Telegram sends the last updates once more, and every handler can stand that.
    }
  }
  const ended = poll()
  const finish = async () => {
    ending.abort()
    if ((await ended) === 'rejected') return
    await within(DRAIN_MS, inbox.drained())
    await confirm()
  }
  let finishing: Promise<void> | undefined
  return {
    ended,
    stop() {
      finishing ??= finish()
      return finishing
    },
  }
}
