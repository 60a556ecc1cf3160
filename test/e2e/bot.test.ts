/** The bot in real processes against a fake Telegram: restarts, kills, tokens that come and go. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { pause } from '#src/lib/pause.ts'
import {
  type Area,
  createArea,
  PLAIN,
  RUNTIMES,
  type Running,
} from '#test/support/drivers/process.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { until } from '#test/support/labs/lab.ts'

const OLD = '111111:AAE-Shop_token_of_the_first_bot_xyz'
const NEW = '222222:AAE-Shop_token_of_the_other_bot_xyz'
const BOTS: Record<string, string> = { [OLD]: 'old_bot', [NEW]: 'new_bot' }
const telegram = await startFakeTelegram({ ...BOTS })
afterAll(() => telegram.close())

const ada = { id: 7, language_code: 'en' }
const bob = { id: 8, language_code: 'ru' }
const BOT = 'entry/bot.ts'

const areas: Area[] = []
beforeEach(() => {
  telegram.reset()
  Object.assign(telegram.bots, BOTS)
})
afterEach(async () => {
  await Promise.all(areas.splice(0).map((made) => made.close()))
})

function area(env: Record<string, string> = {}): Area {
  const made = createArea({ ...PLAIN, TELEGRAM_API_URL: telegram.url, ...env })
  areas.push(made)
  return made
}

/** Somebody starts a bot. */
const start = (token: string, person = ada) => telegram.say(person, '/start', token)
const isPolling = (token: string) =>
  until(`${BOTS[token]} polls`, () => telegram.updates.isPolling(token), 20_000)
/** What a bot has said to somebody. */
const answers = (token: string, chatId = ada.id) =>
  telegram.chat(chatId).filter((message) => message.token === token)
const isIdle = (process: Running) =>
  until('the bot idles', () => process.output().includes('the bot idles'), 20_000)

/** Nothing that a process printed may hold a token. */
function expectNoTokens(a: Area) {
  const text = a.lines.map((line) => line.text).join('\n')
  for (const token of [OLD, NEW]) expect(text).not.toContain(token.slice(7))
}

describe.each(RUNTIMES)('on %s', (runtime) => {
  test('a new token is answered by the new bot at once, and the old one polled no more', async () => {
    const a = area()
    const server = await a.startServer({ runtime })
    await isIdle(server)
    expect((await server.admin('/settings/bot', { token: OLD })).json).toEqual({
      ok: true,
      username: 'old_bot',
      restarted: true,
    })
    await isPolling(OLD)
    start(OLD)
    await until('the old bot answers', () => answers(OLD).length > 0)

    const from = performance.now()
    const saved = await server.admin('/settings/bot', { token: NEW })
    const restarted = performance.now() - from
    expect(saved.json).toEqual({ ok: true, username: 'new_bot', restarted: true })
    const polls = telegram.updates.polls(OLD)
    start(OLD)
    start(NEW)
    await until('the new bot answers', () => answers(NEW).length > 0)
    const answered = performance.now() - from
    console.log(`${runtime}: restarted in ${restarted | 0} ms, answered after ${answered | 0} ms`)
    expect(answered).toBeLessThan(15_000)
    await pause(1500)
    expect(telegram.updates.polls(OLD)).toBe(polls)
    expect(telegram.updates.isPolling(OLD)).toBe(false)
    expect(server.output().match(/the bot idles/g)).toHaveLength(1)

    const stopping = performance.now()
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    expect(performance.now() - stopping).toBeLessThan(3000)
    expect(a.query('select heartbeat_at, username from bot_state')).toEqual([
      { heartbeat_at: null, username: null },
    ])
    expect(telegram.updates.waiting(NEW)).toEqual([])
    expectNoTokens(a)
  })

  test('works without the web process, which restarts it from afar', async () => {
    const a = area({ BOT_TOKEN: OLD, BOT_USERNAME: 'old_bot' })
    const bot = a.spawn({ runtime, entry: BOT })
    await isPolling(OLD)
    start(OLD)
    await until('it answers', () => answers(OLD).length > 0)
    expect(bot.output()).not.toContain('listening')

    const server = await a.startServer({ runtime, entry: `entry/${runtime}.ts` })
    const saved = await server.admin('/settings/bot', { token: NEW })
    expect(saved.json.restarted).toBe(true)
    start(NEW)
    await until('the new bot answers', () => answers(NEW).length > 0)
    await server.stop()
    start(NEW, bob)
    await until('it answers without the web process', () => answers(NEW, bob.id).length > 0)

    // And the web process without the bot.
    const again = await a.startServer({ runtime, entry: `entry/${runtime}.ts` })
    await bot.stop()
    expect((await again.admin('/settings/bot', { token: OLD })).json.restarted).toBe(false)
    expect((await again.call('/healthz')).status).toBe(200)
    expect(telegram.updates.isPolling(OLD)).toBe(false)
    expectNoTokens(a)
  })

  test('kill -9 with taps under way: the next process answers every one', async () => {
    const people = Array.from({ length: 40 }, (_, n) => ({ id: 1000 + n, language_code: 'ru' }))
    const a = area({ BOT_TOKEN: OLD, BOT_USERNAME: 'old_bot' })
    const first = a.spawn({ runtime, entry: BOT })
    await isPolling(OLD)
    telegram.delays.sendMessage = 300
    for (const person of people) start(OLD, person)
    const handled = () =>
      new Set(telegram.callsOf('sendMessage').map(({ params }) => params.chat_id))
    await until('some are under way', () => handled().size > 0)
    const from = performance.now()
    await first.kill()
    telegram.delays = {}
    start(OLD, bob)
    a.spawn({ runtime, entry: BOT })
    const all = [...people.map(({ id }) => id), bob.id]
    await until('all are answered', () => all.every((id) => answers(OLD, id).length > 0), 30_000)
    const twice = all.filter((id) => answers(OLD, id).length > 1).length
    const ms = Math.round(performance.now() - from)
    console.log(`${runtime}: all answered ${ms} ms after kill -9, ${twice} of ${all.length} twice`)
    await until('all is confirmed', () => telegram.updates.waiting(OLD).length === 0)
  })

  test('a token that Telegram refuses is polled no more, and the next one works', async () => {
    const a = area({ BOT_TOKEN: OLD, BOT_USERNAME: 'old_bot' })
    const server = await a.startServer({ runtime })
    await isPolling(OLD)
    telegram.revoke(OLD)
    await until('it says so', () => server.output().includes('Telegram refuses the token'))
    const asked = telegram.asked.length
    await pause(2000)
    expect(telegram.asked).toHaveLength(asked)
    const saved = await server.admin('/settings/bot', { token: NEW })
    expect(saved.json.restarted).toBe(true)
    start(NEW)
    await until('the new bot answers', () => answers(NEW).length > 0)
    await server.stop()
    expectNoTokens(a)
  })

  test('of two processes one polls; the other one takes over when it ends', async () => {
    const a = area({ BOT_TOKEN: OLD, BOT_USERNAME: 'old_bot' })
    const first = a.spawn({ runtime, entry: BOT })
    await isPolling(OLD)
    const second = a.spawn({ runtime, entry: BOT })
    await until('it runs', () => second.output().includes('addresses'))
    await pause(4000)
    // Not the number alone, which a port or the password may have.
    expect(first.output() + second.output()).not.toContain('409 Conflict')
    expect(second.output()).not.toContain('the bot answers')
    const from = performance.now()
    expect(await first.stop()).toEqual({ code: 0, signal: null })
    expect(performance.now() - from).toBeLessThan(3000)
    start(OLD)
    await until('the other one answers', () => answers(OLD).length > 0, 15_000)
    await second.stop()
  })

  test('409: another installation with the same token does not end it', async () => {
    const [mine, other] = [area({ BOT_TOKEN: OLD }), area({ BOT_TOKEN: OLD })]
    const first = mine.spawn({ runtime, entry: BOT })
    await isPolling(OLD)
    const second = other.spawn({ runtime, entry: BOT })
    const both = () => first.output() + second.output()
    await until('one is told', () => both().includes('409 Conflict'), 20_000)
    await second.stop()
    start(OLD)
    await until('it is answered', () => answers(OLD).length > 0, 30_000)
    expect(await first.stop()).toEqual({ code: 0, signal: null })
  })

  test('starts while Telegram is out of order, and answers when it is back', async () => {
    const a = area({ BOT_TOKEN: OLD, BOT_USERNAME: 'old_bot' })
    telegram.mood = 'a gateway error'
    const server = await a.startServer({ runtime })
    await until('it tries', () => server.output().includes('the bot can not start'))
    expect((await server.call('/healthz')).status).toBe(200)
    start(OLD)
    telegram.mood = null
    await until('it answers', () => answers(OLD).length > 0, 20_000)
    await server.stop()
    expectNoTokens(a)
  })
})
