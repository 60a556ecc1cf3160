/** The role `bot`: tokens that come, go and are refused in one process, and what it says of itself. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runBot } from '#src/bot/role.ts'
import { awaitBotRestart } from '#src/domain/notify/bot-restart.ts'
import { pause } from '#src/lib/pause.ts'
import { type FakeTelegram, startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { until } from '#test/support/labs/lab.ts'
import { putSettings } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const OLD = '111111:AAE-Shop_token_of_the_first_bot_xyz'
const NEW = '222222:AAE-Shop_token_of_the_other_bot_xyz'

let telegram: FakeTelegram
let w: World
let bot: ReturnType<typeof runBot>
let stopped: boolean
beforeEach(async () => {
  telegram = await startFakeTelegram({ [OLD]: 'old_bot', [NEW]: 'new_bot' })
  w = await createWorld({ environment: { TELEGRAM_API_URL: telegram.url } })
  stopped = true
})
afterEach(async () => {
  if (!stopped) await bot.stop()
  await w.s.background.idle()
  w.close()
  await telegram.close()
})

function run(token: string | null) {
  if (token !== null) putSettings(w, { BOT_TOKEN: token })
  bot = runBot(w.s)
  stopped = false
}
const stop = async (handOver?: boolean) => {
  stopped = true
  await bot.stop(handOver)
}
/** Saves a token behind the panel's back, as its transaction does; resolves as `restarted`. */
function save(token: string) {
  putSettings(w, { BOT_TOKEN: token })
  w.change('insert into bot_state (id) values (1) on conflict do nothing')
  w.change('update bot_state set wanted_generation = wanted_generation + 1')
  const [{ wanted_generation }] = w.rows('select wanted_generation from bot_state')
  return awaitBotRestart(w.s, wanted_generation)
}
const state = () =>
  w.rows(
    'select wanted_generation as wanted, running_generation as running, username from bot_state',
  )[0]
const beats = () => until('a heartbeat', () => w.rows('select * from bot_state')[0]?.heartbeat_at)
const logged = (text: string) => w.log.filter((line) => line.includes(text))

describe('without a token', () => {
  test('idles, says so once, lives, and takes a token over at once', async () => {
    run(null)
    await beats()
    await pause(1200)
    expect(telegram.asked).toEqual([])
    expect(logged('the bot idles')).toHaveLength(1)
    expect(await save(NEW)).toBe(true)
    expect(state()).toEqual({ wanted: 1, running: 1, username: 'new_bot' })
  })

  test('a token that is taken away ends the polling', async () => {
    run(OLD)
    await until('it polls', () => telegram.updates.isPolling(OLD))
    expect(await save('')).toBe(true)
    const asked = telegram.asked.length
    await pause(500)
    expect([telegram.asked.length, state().username]).toEqual([asked, null])
  })
})

describe('a restart', () => {
  test('is done at once, also while a long poll is open, again and again', async () => {
    run(OLD)
    await until('it polls', () => telegram.updates.isPolling(OLD))
    let last = OLD
    for (let n = 1; n <= 6; n++) {
      const token = `${n}:AAE-Shop_token_of_one_bot_more_xyz`
      telegram.bots[token] = `bot_${n}`
      const from = performance.now()
      expect(await save(token)).toBe(true)
      expect(performance.now() - from).toBeLessThan(5000)
      await until('it polls', () => telegram.updates.isPolling(token))
      expect(telegram.updates.isPolling(last)).toBe(false)
      last = token
    }
    expect(state()).toEqual({ wanted: 6, running: 6, username: 'bot_6' })
  })

  test('is not claimed before the new token works', async () => {
    run(OLD)
    await until('it polls', () => telegram.updates.isPolling(OLD))
    telegram.moods.getUpdates = 'a gateway error'
    const restarted = save(NEW)
    await until('it tries', () => telegram.callsOf('getUpdates').some(({ token }) => token === NEW))
    await pause(300)
    expect(state()).toEqual({ wanted: 1, running: 0, username: null })
    telegram.moods = {}
    expect(await restarted).toBe(true)
    expect(state()).toEqual({ wanted: 1, running: 1, username: 'new_bot' })
  }, 15_000)

  test('is not claimed for a token that Telegram refuses; the next one works', async () => {
    run(OLD)
    await until('it polls', () => telegram.updates.isPolling(OLD))
    delete telegram.bots[NEW]
    const restarted = save(NEW)
    await until('it says so', () => logged('Telegram refuses the token of the bot').length > 0)
    await pause(1200)
    expect(telegram.asked.filter(({ path }) => path.includes(NEW))).toHaveLength(1)
    expect(state()).toEqual({ wanted: 1, running: 0, username: null })
    // Alive all the same: it would be told of no later wish else.
    const at = w.rows('select heartbeat_at from bot_state')[0].heartbeat_at
    w.clock.advance(60_000)
    expect(await restarted).toBe(false)
    await until('it beats', () => w.rows('select heartbeat_at from bot_state')[0].heartbeat_at > at)
    expect(await save(OLD)).toBe(true)
  }, 15_000)

  test('leaves a token that is revoked in the middle alone', async () => {
    run(OLD)
    await until('it polls', () => telegram.updates.isPolling(OLD))
    telegram.revoke(OLD)
    await until('it says so', () => logged('Telegram refuses the token of the bot').length > 0)
    await until('it is nobody’s', () => state().username === null)
    const asked = telegram.asked.length
    await pause(700)
    expect(telegram.asked).toHaveLength(asked)
  })
})

describe('its end', () => {
  test('says that there is no bot any more', async () => {
    run(OLD)
    await until('it polls', () => telegram.updates.isPolling(OLD))
    await beats()
    await stop()
    expect(w.rows('select heartbeat_at, username from bot_state')).toEqual([
      { heartbeat_at: null, username: null },
    ])
    expect(await save(NEW)).toBe(false)
  })

  test('leaves the state to the process that has the role now', async () => {
    run(OLD)
    await until('it answers', () => state()?.username === 'old_bot')
    await stop(true)
    expect(w.rows('select heartbeat_at, username from bot_state')).toEqual([
      { heartbeat_at: expect.any(String), username: 'old_bot' },
    ])
  })

  test('comes while Telegram is silent', async () => {
    telegram.mood = 'silent'
    run(OLD)
    await until('it asks', () => telegram.asked.length > 0)
    const from = performance.now()
    await stop()
    expect(performance.now() - from).toBeLessThan(5000)
  })
})

test('a database that refuses writes stops neither the bot nor, later, its heartbeat', async () => {
  const { tx, txVolatile } = w.s.db
  const refuse = () => Promise.reject(new Error('database or disk is full'))
  Object.assign(w.s.db, { tx: refuse, txVolatile: refuse })
  run(OLD)
  await until('it polls', () => telegram.updates.isPolling(OLD))
  await until('it says so', () => logged('disk is full').length > 0)
  Object.assign(w.s.db, { tx, txVolatile })
  await until('it beats', () => state()?.username === 'old_bot')
})
