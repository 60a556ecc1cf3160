/**
 * The role `bot`: answers with the token of the settings, and takes a new generation of them over in the same process (the other
 * side: domain/notify/bot-restart.ts). Held by one process; it needs neither web nor scheduler.
 */

import { Api } from 'grammy/web'
import { reportBot, reportBotGone, wantedGeneration } from '#src/domain/notify/bot-restart.ts'
import { readSettings } from '#src/domain/settings.ts'
import { noteFault } from '#src/lib/note-fault.ts'
import { pause } from '#src/lib/pause.ts'
import { MINUTE_MS, SECOND_MS } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { apiOptions, briefly, describeFault } from './api.ts'
import { answerUpdate, createBot } from './bot.ts'
import { setCommands } from './flows.ts'
import { backoffMs, isRejection, LONG_POLL_SECONDS, type Poller, startPoller } from './poller.ts'

const LOOK_MS = 100
const BEAT_MS = SECOND_MS
/** A token that Telegram has refused is tried again after this: outages refuse good ones. */
const REFUSED_AGAIN_MS = 5 * MINUTE_MS
const SLACK_SECONDS = 10

/** What the role says of itself. */
interface Report {
  running?: number | undefined
  username: string | null
}

interface Run {
  stop(): Promise<void>
}

/** Asks whose token it is until there is an answer; null when Telegram refuses the token or `signal` ends it. */
async function identify(s: Services, api: Api, signal: AbortSignal): Promise<string | null> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return (await api.getMe(briefly(signal))).username
    } catch (error) {
      if (signal.aborted || isRejection(error)) break
      if (failures === 1) s.log.warn('the bot can not start', { reason: describeFault(error) })
      await pause(backoffMs(error, failures), signal)
    }
  }
  return null
}

/** Commands are a convenience: without them the bot answers all the same. */
async function offerCommands(s: Services, bot: ReturnType<typeof createBot>): Promise<void> {
  try {
    await setCommands(bot, s)
  } catch (error) {
    s.log.warn('the commands of the bot could not be set', { reason: describeFault(error) })
  }
}

/** Does `work` again and again: a database that is full or locked for a while stops neither the bot nor its heartbeat. */
async function repeat(
  s: Pick<Services, 'log' | 'fatal'>,
  part: string,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work()
    } catch (error) {
      const reason = describeFault(error)
      noteFault(s, 'warn', 'the bot could not do its part', error, { part, reason })
      await pause(BEAT_MS, signal)
    }
  }
}

/** Answers with `token` until stopped; `report` hears as soon as it does. */
function runToken(
  s: Services,
  token: string,
  generation: number,
  report: (r: Report) => void,
): Run {
  const ending = new AbortController()
  const { signal } = ending
  let poller: Poller | null = null
  const answer = async () => {
    const api = new Api(token, apiOptions(s, LONG_POLL_SECONDS + SLACK_SECONDS))
    const username = await identify(s, api, signal)
    if (signal.aborted) return
    if (username !== null) {
      const bot = createBot(s, { token, username })
      poller = startPoller({
        api,
        log: s.log,
        handle: (update) => answerUpdate(s, bot, update),
        onUp() {
          s.log.info('the bot answers', { username })
          report({ running: generation, username })
          s.background.run('bot commands', () => offerCommands(s, bot))
        },
      })
      if ((await poller.ended) === 'stopped') return
    }
    report({ username: null })
    s.log.error('Telegram refuses the token of the bot: set another one in the panel')
    await pause(REFUSED_AGAIN_MS, signal)
  }
  const answering = repeat(s, 'answering', signal, answer)
  return {
    async stop() {
      ending.abort()
      await poller?.stop()
      await answering
    },
  }
}

function runGeneration(s: Services, generation: number, report: (r: Report) => void): Run {
  const token = readSettings(s).text('BOT_TOKEN')
  if (token !== '') return runToken(s, token, generation, report)
  s.log.info('the bot idles: it has no token (panel, or BOT_TOKEN)')
  report({ running: generation, username: null })
  return { stop: async () => {} }
}

/** Spares who asks for a restart the wait for the last heartbeat to grow old. */
async function sayGoodbye(s: Services): Promise<void> {
  try {
    await reportBotGone(s)
  } catch (error) {
    noteFault(s, 'warn', 'the end of the bot could not be noted', error)
  }
}

/** Runs the bot until `stop`; `handOver`: another process is the bot already. */
export function runBot(s: Services): { stop(handOver?: boolean): Promise<void> } {
  const ending = new AbortController()
  const { signal } = ending
  let state: Report = { username: null }
  let wake = new AbortController()
  const report = (next: Report) => {
    state = next
    wake.abort()
  }
  let current: { generation: number; run: Run } | null = null
  const looking = repeat(s, 'settings', signal, async () => {
    const wanted = await wantedGeneration(s)
    if (wanted !== current?.generation) {
      await current?.run.stop()
      report({ username: null })
      current = { generation: wanted, run: runGeneration(s, wanted, report) }
    }
    await pause(LOOK_MS, signal)
  })
  const beating = repeat(s, 'heartbeat', signal, async () => {
    wake = new AbortController()
    await reportBot(s, state)
    await pause(BEAT_MS, wake.signal)
  })
  return {
    async stop(handOver = false) {
      ending.abort()
      wake.abort()
      await Promise.all([looking, beating])
      await current?.run.stop()
      if (!handOver) await sayGoodbye(s)
    },
  }
}
