/** Long polling against the Bot API on loopback: nothing is lost, nobody overtakes themselves, nobody holds up the others. */
import { Api } from 'grammy/web'
import { describe, expect, type TestContext, test } from 'vitest'
import { apiOptions } from '#src/bot/api.ts'
import { type Poller, startPoller } from '#src/bot/poller.ts'
import type { Config } from '#src/config.ts'
import { createLog } from '#src/lib/log.ts'
import { pause } from '#src/lib/pause.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { until } from '#test/support/labs/lab.ts'

const TOKEN = '111111:AAE-Shop_token_of_the_first_bot_xyz'

const [ada, bob, eve] = [{ id: 1 }, { id: 2 }, { id: 3 }]

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

describe.concurrent('polling', () => {
  test('takes a webhook away, asks briefly, then long, for the kinds that are answered', async (context) => {
    const { telegram, start, polls, isPolling } = await openLab(context)
    telegram.updates.setWebhook(TOKEN, 'https://elsewhere.test/')
    const { poller } = start()
    await isPolling()
    await poller.stop()
    const methods = ['deleteWebhook', 'getUpdates', 'getUpdates']
    expect(telegram.calls.map(({ method }) => method)).toEqual(methods)
    const allowed_updates = ['message', 'callback_query', 'pre_checkout_query', 'my_chat_member']
    expect(polls()).toEqual([
      { offset: 0, timeout: 0, allowed_updates },
      { offset: 0, timeout: 25, allowed_updates },
    ])
    await until('the poll is over', () => !telegram.updates.isPolling(TOKEN))
  })

  test('handles what waited, and what comes during a long poll at once', async (context) => {
    const { telegram, start, isPolling, isConfirmed } = await openLab(context)
    telegram.say(ada, 'before')
    const state = start()
    await isPolling()
    const from = performance.now()
    telegram.say(ada, 'now')
    await until('it is handled', () => state.seen.length === 2)
    expect(performance.now() - from).toBeLessThan(5000)
    expect([state.seen, state.ups]).toEqual([['before', 'now'], 1])
    await isConfirmed()
  })

  test('confirms an update only after its handler, also at its end', async (context) => {
    const { telegram, start, isPolling } = await openLab(context)
    const gate = Promise.withResolvers<void>()
    const { seen, poller } = start((text) => (text === 'slow' ? gate.promise : Promise.resolve()))
    await isPolling()
    telegram.say(ada, 'slow')
    telegram.say(bob, 'quick')
    await until('both are under way', () => seen.length === 2)
    await pause(1500)
    expect(telegram.updates.waiting(TOKEN)).toHaveLength(2)
    const stopping = poller.stop()
    gate.resolve()
    await stopping
    expect(telegram.updates.waiting(TOKEN)).toEqual([])
    telegram.say(ada, 'next')
    const again = start()
    await until('the next one goes on', () => again.seen.length > 0)
    expect(again.seen).toEqual(['next'])
  })

  test('what was not confirmed comes again, and an end waits 5 seconds for handlers', async (context) => {
    const { telegram, start } = await openLab(context)
    const { seen, poller } = start(() => new Promise(() => {}))
    telegram.say(ada, 'tap')
    await until('it is under way', () => seen.length === 1)
    const from = performance.now()
    await poller.stop()
    expect(performance.now() - from).toBeGreaterThan(4500)
    expect(performance.now() - from).toBeLessThan(8000)
    const again = start()
    await until('it comes again', () => again.seen.length > 0)
    expect(again.seen).toEqual(['tap'])
  }, 20_000)
})

describe.concurrent('order', () => {
  test('a person’s updates one after another, different people’s at the same time', async (context) => {
    const { telegram, start } = await openLab(context)
    const under: string[] = []
    const ended: string[] = []
    const faults: string[] = []
    let most = 0
    const { seen } = start(async (text) => {
      const person = text.slice(0, 1)
      if (under.includes(person)) faults.push(text)
      under.push(person)
      most = Math.max(most, under.length)
      await pause(20)
      under.splice(under.indexOf(person), 1)
      ended.push(text)
    })
    const turns = [0, 1, 2, 3, 4]
    for (const turn of turns) {
      telegram.say(ada, `a${turn}`)
      telegram.say(bob, `b${turn}`)
      telegram.say(eve, `c${turn}`)
    }
    await until('all are handled', () => ended.length === 15)
    expect([most, faults]).toEqual([3, []])
    for (const person of 'abc') {
      const own = seen.filter((text) => text.startsWith(person))
      expect(own).toEqual(turns.map((turn) => person + turn))
    }
  })

  test('a stuck handler holds up its own person only, and no longer than its limit', async (context) => {
    const { telegram, log, start, polls, isConfirmed } = await openLab(context)
    const stuck: Handle = (text) => (text === 'stuck' ? new Promise(() => {}) : Promise.resolve())
    const { seen } = start(stuck, { handlerLimitMs: 2500 })
    telegram.say(ada, 'stuck')
    telegram.say(ada, 'behind')
    await until('it is stuck', () => seen.length === 1)
    const from = performance.now()
    telegram.say(bob, 'beside')
    await until('the others go on', () => seen.includes('beside'))
    expect(performance.now() - from).toBeLessThan(2400)
    expect(seen).toEqual(['stuck', 'beside'])
    // Telegram is not asked in a frenzy meanwhile.
    expect(polls().length).toBeLessThan(8)
    await until('the person goes on', () => seen.includes('behind'))
    expect(log.join('\n')).toContain('an update takes too long update=100')
    await isConfirmed()
    expect(seen).toEqual(['stuck', 'beside', 'behind'])
  }, 20_000)

  test('Stars that can not be taken up yet are not forgotten by Telegram, however long that takes', async (context) => {
    const { telegram, log, start, isConfirmed } = await openLab(context)
    let end = () => {}
    const trouble = new Promise<void>((resolve) => {
      end = resolve
    })
    const slow: Handle = (text) => (text === 'something else' ? trouble : Promise.resolve())
    const { seen, poller } = start(slow, { handlerLimitMs: 100 })
    const charge = { message: { from: { id: ada?.id }, successful_payment: {} } } as never
    telegram.push(TOKEN, charge)
    telegram.say(bob, 'beside')
    await until('the others go on', () => seen.includes('beside'))
    await pause(1500)
    expect(telegram.updates.waiting(TOKEN)).not.toEqual([])
    expect(log.join('\n')).toContain('an update takes too long')
    end()
    await isConfirmed()
    await poller.stop()
  }, 20_000)

  test('who sends hundreds holds up nobody else, and is answered as far as 20 wait; their payments are all taken', async (context) => {
    const { telegram, start, isConfirmed } = await openLab(context)
    const { seen } = start((text) => pause(text.startsWith('slow') ? 150 : 0))
    for (let n = 0; n < 250; n++) telegram.say(ada, `slow ${n}`)
    const from = { id: ada?.id }
    telegram.push(TOKEN, { message: { from, successful_payment: {} } } as never)
    telegram.say(bob, 'beside')
    await until('the others go on', () => seen.includes('beside'))
    expect(seen.length).toBeLessThan(20)
    await isConfirmed()
    const answered = seen.filter((text) => text.startsWith('slow'))
    expect(answered.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, n) => `slow ${n}`))
    expect(answered.length).toBeLessThan(60)
    expect(seen).toContain('something else')
  }, 20_000)

  test('1,000 updates of 50 people come through once each', async (context) => {
    const { telegram, start, isConfirmed } = await openLab(context)
    const { seen } = start()
    for (let n = 0; n < 1000; n++) telegram.say({ id: n % 50 }, String(n))
    await until('all are handled', () => seen.length >= 1000, 20_000)
    await isConfirmed()
    expect([seen.length, new Set(seen).size]).toEqual([1000, 1000])
  }, 30_000)
})
