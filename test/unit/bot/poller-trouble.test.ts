/** Long polling while the Bot API misbehaves. */
import { Api } from 'grammy/web'
import { describe, expect, type TestContext, test } from 'vitest'
import { apiOptions } from '#src/bot/api.ts'
import { type Poller, startPoller } from '#src/bot/poller.ts'
import type { Config } from '#src/config.ts'
import { createLog } from '#src/lib/log.ts'
import { pause } from '#src/lib/pause.ts'
import { MISBEHAVIOURS, type Mood } from '#test/support/fakes/system.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { until } from '#test/support/labs/lab.ts'

const TOKEN = '111111:AAE-Shop_token_of_the_first_bot_xyz'

const [ada, _bob, _eve] = [{ id: 1 }, { id: 2 }, { id: 3 }]

type Handle = (text: string) => Promise<void>

/** A Telegram of one's own, so that tests can wait side by side. */
async function openLab({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
  const telegram = await startFakeTelegram({ [TOKEN]: 'shop_bot' })
  const log: string[] = []
  const pollers: Poller[] = []
  onTestFinished(async () => {
    await Promise.all(pollers.map((poller) => poller.stop()))
    await telegram.close()
  })
  /** Starts a poller whose handler gets texts; `seen` are those whose handling began, `ups` how often it came up. */
  const start = (
    handle: Handle = async () => {},
    { token = TOKEN, handlerLimitMs = 60_000 } = {},
  ) => {
    const config = { telegramApiUrl: telegram.url } as Config
    const state = { seen: [] as string[], ups: 0 }
    const poller = startPoller({
      api: new Api(token, apiOptions({ config }, 35)),
      log: createLog(
        'debug',
        () => new Date(0),
        (line) => log.push(line),
      ),
      handlerLimitMs,
      onUp() {
        state.ups++
      },
      async handle(update) {
        const text = update.message?.text ?? update.callback_query?.data ?? 'something else'
        state.seen.push(text)
        await handle(text)
      },
    })
    pollers.push(poller)
    return Object.assign(state, { poller })
  }
  return {
    telegram,
    log,
    start,
    polls: () => telegram.callsOf('getUpdates').map(({ params }) => params),
    isPolling: () => until('a long poll', () => telegram.updates.isPolling(TOKEN)),
    isConfirmed: () =>
      until('all is confirmed', () => telegram.updates.waiting(TOKEN).length === 0),
    logs: (text: string) => until(text, () => log.some((line) => line.includes(text))),
  }
}

const FAULTS = Object.keys(MISBEHAVIOURS).filter((mood) => !/silent|dripping/.test(mood)) as Mood[]

describe.concurrent('trouble', () => {
  test.for(FAULTS)(
    'goes on by itself after Telegram was %s',
    { timeout: 20_000 },
    async (mood, context) => {
      const { telegram, log, start, logs, isPolling } = await openLab(context)
      const state = start()
      await isPolling()
      telegram.mood = mood
      telegram.say(ada, 'during')
      // The open poll is answered in that mood.
      await logs('gets no updates')
      telegram.mood = null
      await until('it is handled', () => state.seen.length === 1)
      await logs('gets updates again')
      expect([state.seen, state.ups]).toEqual([['during'], 1])
      expect(log.join('\n')).not.toContain(TOKEN.slice(7))
    },
  )

  test('asks with growing patience while connections are cut', async (context) => {
    const { telegram, start, isPolling } = await openLab(context)
    const state = start()
    await isPolling()
    telegram.mood = 'hanging up'
    telegram.cut()
    await pause(3000)
    // After 0.5, 1 and 2 seconds; a runtime may repeat a request on a connection that it had kept.
    expect(telegram.calls.length).toBeLessThan(12)
    telegram.mood = null
    telegram.say(ada, 'hello')
    await until('it is back', () => state.seen.length === 1)
  }, 20_000)

  test('429: waits as long as Telegram asks', async (context) => {
    const { telegram, start, logs, isPolling } = await openLab(context)
    const state = start()
    await isPolling()
    telegram.flooded = true
    telegram.say(ada, 'first')
    await logs('gets no updates')
    const asked = telegram.asked.length
    await pause(3000)
    expect(telegram.asked).toHaveLength(asked)
    telegram.flooded = false
    telegram.say(ada, 'second')
    await until('it goes on', () => state.seen.length === 2)
  }, 20_000)

  test('409: two pollers both stay alive, ask with patience, and who is left goes on', async (context) => {
    const { telegram, start, polls, logs, isPolling } = await openLab(context)
    const first = start()
    await isPolling()
    const second = start()
    await logs('409 Conflict: terminated by other getUpdates request')
    await pause(3000)
    expect(polls().length).toBeLessThan(8)
    await second.poller.stop()
    telegram.say(ada, 'hello')
    await until('the other one goes on', () => first.seen.length === 1, 15_000)
    expect(second.seen).toEqual([])
  }, 30_000)

  test('409: a webhook that is set meanwhile is taken away', async (context) => {
    const { telegram, start, isPolling } = await openLab(context)
    const state = start()
    await isPolling()
    telegram.updates.setWebhook(TOKEN, 'https://elsewhere.test/')
    telegram.say(ada, 'hello')
    await until('it is back', () => state.seen.length === 1)
    expect(telegram.updates.webhookOf(TOKEN)).toBe('')
  }, 20_000)

  test.for(['222222:unknown', 'no-token', '../x', '1:a?b#c'])(
    'a token that Telegram refuses ends it after one call: %s',
    async (token, context) => {
      const { telegram, start } = await openLab(context)
      expect(await start(undefined, { token }).poller.ended).toBe('rejected')
      expect(telegram.asked).toHaveLength(1)
    },
  )

  test('a token that is revoked ends it, and nothing more is asked', async (context) => {
    const { telegram, start, isPolling } = await openLab(context)
    const { poller } = start()
    await isPolling()
    telegram.revoke(TOKEN)
    expect(await poller.ended).toBe('rejected')
    const asked = telegram.asked.length
    await poller.stop()
    await pause(700)
    expect(telegram.asked).toHaveLength(asked)
  })

  test('an update without an id is left out', async (context) => {
    const { telegram, start, isPolling } = await openLab(context)
    const state = start()
    await isPolling()
    telegram.updates.restartIds(TOKEN, Number.NaN)
    telegram.say(ada, 'broken')
    telegram.updates.restartIds(TOKEN, 500)
    telegram.say(ada, 'hello')
    await until('it goes on', () => state.seen.length > 0)
    expect(state.seen).toEqual(['hello'])
  })

  test('ids that begin anew lower, as after a week without updates, are handled', async (context) => {
    const { telegram, start, isPolling, isConfirmed } = await openLab(context)
    const state = start()
    telegram.say(ada, 'high')
    await isConfirmed()
    await isPolling()
    telegram.updates.restartIds(TOKEN, 7)
    telegram.say(ada, 'low')
    await until('it is handled', () => state.seen.length === 2)
    await isConfirmed()
    expect(state.seen).toEqual(['high', 'low'])
  })
})
