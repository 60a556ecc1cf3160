import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { runBot } from '#src/bot/role.ts'
import { type FakeBot, startFakeBot } from '#test/support/fakes/bot.ts'
import { MISBEHAVIOURS, type Mood } from '#test/support/fakes/system.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { until } from '#test/support/labs/lab.ts'
import { auditOf, putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const TOKEN = '123456789:AAE-Shop_token_of_the_first_bot_xyz'
const OTHER = '987654321:AAE-Shop_token_of_the_other_bot_xyz'
const telegram = await startFakeTelegram({ [TOKEN]: 'shop_bot', [OTHER]: 'other_bot' })
beforeEach(() => telegram.reset())
afterAll(() => telegram.close())

const world = { environment: { TELEGRAM_API_URL: telegram.url } }
const BOT = '/admin/api/settings/bot'
const setBot = (body: unknown) => ({ path: BOT, body })

const stored = (w: World) =>
  Object.fromEntries(
    w
      .rows("select key, value from settings where key like 'BOT%' order by key")
      .map((row) => [row.key, row.value]),
  )

scenarios('GET settings/bot', [
  {
    name: '200 with an empty name and *** without a token',
    request: { path: BOT },
    status: 200,
    body: { username: '', token_masked: '***' },
  },
  ...(
    [
      ['12345678901234', '***'],
      ['123456789012345', '12345678...2345'],
      [TOKEN, '12345678..._xyz'],
      ['x', '***'],
    ] as const
  ).map(
    ([token, masked]): Scenario => ({
      name: `200 with ${masked} for a token of ${token.length} characters`,
      given: (w) => putSettings(w, { BOT_TOKEN: token, BOT_USERNAME: 'shop_bot' }),
      request: { path: BOT },
      status: 200,
      body: { username: 'shop_bot', token_masked: masked },
    }),
  ),
  {
    name: '200 with the bot of the environment while nothing is saved',
    world: { environment: { BOT_TOKEN: TOKEN, BOT_USERNAME: 'env_bot' } },
    request: { path: BOT },
    status: 200,
    body: { username: 'env_bot', token_masked: '12345678..._xyz' },
  },
])

scenarios(
  'POST settings/bot',
  [
    {
      name: '200, saved with the name that Telegram gives, not restarted where no bot runs',
      request: setBot({ token: ` ${TOKEN}\n`, username: 'ignored' }),
      status: 200,
      body: { ok: true, username: 'shop_bot', restarted: false },
      effects: (w, _given, { text }) => {
        expect(stored(w)).toEqual({ BOT_TOKEN: TOKEN, BOT_USERNAME: 'shop_bot' })
        expect(w.rows('select wanted_generation from bot_state')).toEqual([
          { wanted_generation: 1 },
        ])
        expect(w.rows('select action, object, detail from audit_log')).toEqual([
          { action: 'settings.change', object: 'BOT_TOKEN BOT_USERNAME', detail: '' },
        ])
        expect(text).not.toContain(TOKEN)
        expect(w.log.join('\n')).not.toContain(TOKEN)
        expect(telegram.asked.map(({ method, path }) => [method, path])).toEqual([
          ['GET', `/bot${TOKEN}/getMe`],
        ])
      },
    },
    {
      name: '200 and what is saved wins over the environment',
      world: {
        environment: { ...world.environment, BOT_TOKEN: OTHER, BOT_USERNAME: 'other_bot' },
      },
      request: setBot({ token: TOKEN }),
      status: 200,
      effects: async (w) => {
        expect((await w.admin(BOT)).json).toEqual({
          username: 'shop_bot',
          token_masked: '12345678..._xyz',
        })
        expect(w.log.join('\n')).toContain('before=other_bot now=shop_bot')
      },
    },
    ...(
      [
        [{}, 'token is missing or of the wrong type'],
        [{ token: null }, 'token must be a string'],
        [{ token: 5 }, 'token must be a string'],
        [{ token: [TOKEN] }, 'token must be a string'],
        [{ token: '' }, 'token must not be empty'],
        [{ token: ' \n ' }, 'token must not be empty'],
        [{ token: `${TOKEN}\nPANEL_PASSWORD=x` }, /^token must be one line/],
        [{ token: `${TOKEN}\u0000` }, /^token must be one line/],
        [{ token: 'two words' }, /^token must be letters/],
        [{ token: 'ключ' }, /^token must be letters/],
        [{ token: 'x'.repeat(257) }, 'token must have at most 256 characters'],
      ] as [unknown, string | RegExp][]
    ).map(
      ([body, error]): Scenario => ({
        name: `400 and Telegram is not asked: ${JSON.stringify(body).slice(0, 60)}`,
        request: setBot(body),
        status: 400,
        error,
        effects: () => expect(telegram.asked).toEqual([]),
      }),
    ),
    {
      name: '400 for a malformed body',
      request: { path: BOT, raw: '{"token":' },
      status: 400,
      error: 'invalid JSON',
    },
    ...[
      '123456789:AAE-Unknown_token_of_nobody_at_all',
      'no-token',
      '../getUpdates?x=',
      '1:a/../../x#',
    ].map(
      (token): Scenario => ({
        name: `400 for a token that Telegram refuses: ${token}`,
        given: (w) => putSettings(w, { BOT_TOKEN: OTHER, BOT_USERNAME: 'other_bot' }),
        request: setBot({ token }),
        status: 400,
        error: 'token was rejected by Telegram',
        effects: (w) => {
          expect(telegram.asked[0]?.path).toMatch(/^\/bot[^/?#]+\/getMe$/)
          expect(w.log.join('\n')).not.toContain(token)
        },
      }),
    ),
    {
      name: '400 while Telegram wants a pause',
      given: () => {
        telegram.flooded = true
      },
      request: setBot({ token: TOKEN }),
      status: 400,
      error: 'no connection to Telegram',
    },
    ...(Object.keys(MISBEHAVIOURS) as Mood[]).map(
      (mood): Scenario => ({
        name: `400 while Telegram is ${mood}`,
        given: () => {
          telegram.mood = mood
        },
        request: setBot({ token: TOKEN }),
        status: 400,
        error: 'no connection to Telegram',
        effects: async (w) => {
          // On a busy machine the time is up before the fake has read.
          await expect.poll(() => telegram.asked.length).toBe(1)
          expect(w.log.join('\n')).toMatch(/warn Telegram /)
          expect(w.log.join('\n')).not.toContain(TOKEN)
        },
      }),
    ),
    {
      name: '400 where nobody listens',
      world: { environment: {} },
      request: setBot({ token: TOKEN }),
      status: 400,
      error: 'no connection to Telegram',
      effects: (w) => expect(w.log.join('\n')).not.toContain(TOKEN),
    },
  ],
  world,
)

describe('the restart of the bot', () => {
  let w: World
  let bot: FakeBot | undefined
  beforeEach(async () => {
    w = await createWorld(world)
    return async () => {
      await bot?.stop()
      bot = undefined
      w.close()
    }
  })
  const save = () => w.admin(BOT, { body: { token: TOKEN } })

  test('is true as soon as a live bot runs with the new settings', async () => {
    bot = startFakeBot(w, { follows: true })
    expect((await save()).json).toEqual({ ok: true, username: 'shop_bot', restarted: true })
    expect((await save()).json.restarted).toBe(true)
    expect(w.rows('select wanted_generation, running_generation from bot_state')).toEqual([
      { wanted_generation: 2, running_generation: 2 },
    ])
    expect(auditOf(w)).toEqual(['settings.change', 'settings.change'])
  })

  test('is false after 15 seconds of a bot that does not follow', async () => {
    bot = startFakeBot(w, { follows: false })
    const answer = save()
    let over = false
    void answer.then(() => {
      over = true
    })
    const pass = async (ms: number) => {
      for (let gone = 0; gone < ms; gone += 500) {
        w.clock.advance(500)
        await new Promise((resolve) => setTimeout(resolve, 15))
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
    await pass(14_500)
    expect(over).toBe(false)
    await pass(1000)
    expect((await answer).json).toEqual({ ok: true, username: 'shop_bot', restarted: false })
    expect(stored(w).BOT_TOKEN).toBe(TOKEN)
  })

  test.each([-3600, -6, 6, 3600])(
    'is false at once with a heartbeat %i seconds from now, however far its generation',
    async (seconds) => {
      bot = startFakeBot(w, { follows: true })
      await bot.stop()
      await w.changeBeside('update bot_state set running_generation = 9')
      w.clock.advance(-seconds * 1000)
      expect((await save()).json.restarted).toBe(false)
    },
  )

  test('is false as soon as the bot dies meanwhile', async () => {
    bot = startFakeBot(w, { follows: false })
    const answer = save()
    await until('it waits for the bot', () =>
      w.rows('select 1 from bot_state where wanted_generation = 1').at(0),
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    await bot.stop()
    w.clock.advance(7000)
    expect((await answer).json.restarted).toBe(false)
  })

  test('is true with the real bot, which answers by the new token then', async () => {
    const running = runBot(w.s)
    try {
      await until('it lives', () => w.rows('select * from bot_state')[0]?.heartbeat_at)
      expect((await save()).json).toEqual({ ok: true, username: 'shop_bot', restarted: true })
      telegram.say({ id: 7 }, '/start', TOKEN)
      await until('it answers', () => telegram.chat(7).length > 0)
      expect((await w.admin(BOT, { body: { token: OTHER } })).json.restarted).toBe(true)
      telegram.say({ id: 8 }, '/start', OTHER)
      await until('it answers', () => telegram.chat(8).length > 0)
      expect(telegram.updates.isPolling(TOKEN)).toBe(false)
    } finally {
      await running.stop()
      await w.s.background.idle()
    }
    expect((await save()).json.restarted).toBe(false)
  })
})
