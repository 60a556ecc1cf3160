/** Customers without Telegram ask for the link that connects their account; what a connection does is in connect.test.ts of the bot. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cleanUp } from '#src/domain/installation/cleanup.ts'
import { addSubscription, addUser, putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const LINK = /^https:\/\/t\.me\/shop_bot\?start=link_[\w-]{32}$/
const codes = (w: World) => w.rows('select * from link_codes')
/** A customer of a shop with a bot, without Telegram unless another number is given; the token of their link. */
const customer = (w: World, tgId = -1) => {
  putSettings(w, { BOT_USERNAME: '@shop_bot' })
  return addUser(w, tgId)
}
const MINUTES_MS = 60_000

interface Way {
  ask: (token: string) => { path: string; method?: string }
  /** What brings the link. */
  linkIn: (answer: { json: { url: string }; headers: Headers }) => string
  status: number
}

const CABINET: Way = {
  ask: (token) => ({ path: `/api/cabinet/${token}/link`, method: 'POST' }),
  linkIn: ({ json }) => json.url,
  status: 200,
}
const PAGE: Way = {
  ask: (token) => ({ path: `/sub/${token}/telegram` }),
  linkIn: ({ headers }) => headers.get('location') ?? '',
  status: 303,
}

const refusalsOf = ({ ask }: Way): Scenario[] => [
  {
    name: '404 for a token that is nobody’s',
    given: (w) => void customer(w),
    request: ask('x'.repeat(43)),
    status: 404,
  },
  {
    name: '400 for who has come by Telegram',
    given: (w) => customer(w, 7),
    request: ask,
    status: 400,
    error: 'Telegram is connected already',
  },
  {
    name: '400 for who has connected it',
    given(w) {
      const token = customer(w)
      w.change('update users set telegram_id = 7')
      return token
    },
    request: ask,
    status: 400,
    error: 'Telegram is connected already',
  },
  {
    name: '400 for who is banned',
    given: (w) => {
      const token = customer(w)
      w.change("update users set banned_at = '2026-02-01T00:00:00'")
      return token
    },
    request: ask,
    status: 400,
    error: 'user is banned',
  },
  {
    name: '400 while there is no bot',
    given: (w) => addUser(w, -1),
    request: ask,
    status: 400,
    error: 'Telegram is not available',
  },
  {
    name: '429 for a second one at once',
    async given(w) {
      const token = customer(w)
      await w.call(CABINET.ask(token).path, { method: 'POST' })
      return token
    },
    request: ask,
    status: 429,
    headers: { 'retry-after': '2' },
  },
]

describe.each([
  ['POST /api/cabinet/{token}/link', CABINET],
  ['GET /sub/{token}/telegram', PAGE],
])('%s', (name, way) => {
  scenarios(name, [
    {
      name: `${way.status} with a link into the bot; the code is kept as a digest, for 15 minutes`,
      given: (w) => customer(w),
      request: way.ask,
      status: way.status,
      headers: { 'cache-control': 'private, no-store' },
      effects(w, _given, answer) {
        const link = way.linkIn(answer)
        expect(link).toMatch(LINK)
        expect(codes(w)).toEqual([
          {
            tg_id: -1,
            code: expect.stringMatching(/^[0-9a-f]{64}$/),
            expires_at: '2026-03-01T12:15:00',
          },
        ])
        expect(link).not.toContain(codes(w)[0].code)
      },
    },
    {
      name: `${way.status} for a former link too`,
      given(w) {
        customer(w)
        w.change(
          "insert into user_tokens values ('former', -1, 'former', null, '2026-01-01T00:00:00')",
        )
        return 'former'
      },
      request: way.ask,
      status: way.status,
      effects: (w) => expect(codes(w)).toHaveLength(1),
    },
    ...refusalsOf(way),
  ])
})

const seen = (token: string) => ({ path: `/sub/${token}/telegram`, method: 'HEAD' })
scenarios('HEAD /sub/{token}/telegram', [
  {
    name: '303 to the bot without a code, and the code before it stays',
    async given(w) {
      const token = customer(w)
      await w.call(PAGE.ask(token).path)
      return { token, before: codes(w) }
    },
    request: ({ token }) => seen(token),
    status: 303,
    headers: { location: 'https://t.me/shop_bot', 'cache-control': 'private, no-store' },
    effects(w, { before }) {
      expect(codes(w)).toEqual(before)
      expect(before).toHaveLength(1)
    },
  },
  {
    name: '400 while there is no bot',
    given: (w) => addUser(w, -1),
    request: seen,
    status: 400,
  },
])

describe('a code', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => w.close())

  test('takes the place of the one before it', async () => {
    const token = customer(w)
    const ask = async () => (await w.call(CABINET.ask(token).path, { method: 'POST' })).json.url
    const first = await ask()
    const [before] = codes(w)
    w.clock.advance(2000)
    expect(await ask()).not.toBe(first)
    expect(codes(w)).toHaveLength(1)
    expect(codes(w)[0].code).not.toBe(before.code)
  })

  test('is cleaned away when it has run out, and goes with the link that fetched it', async () => {
    const token = customer(w)
    const ask = () => w.call(CABINET.ask(token).path, { method: 'POST' })
    await ask()
    w.clock.advance(15 * MINUTES_MS - 1000)
    await cleanUp(w.s)
    expect(codes(w)).toHaveLength(1)
    w.clock.advance(1000)
    await cleanUp(w.s)
    expect(codes(w)).toEqual([])
    await ask()
    await w.admin('/admin/api/users/-1/rotate-token', { method: 'POST' })
    expect(codes(w)).toEqual([])
  })
})

describe('the pages of a customer without Telegram', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => w.close())
  const page = async (token: string) => {
    const headers = { 'user-agent': 'Mozilla/5.0', accept: 'text/html' }
    return (await w.call(`/sub/${token}`, { headers })).text
  }
  const shop = async (token: string) => (await w.call(`/api/cabinet/${token}/shop`)).json

  test('lead to the connection, not into a bot that would know them as somebody else', async () => {
    const token = customer(w)
    const connect = `href="https://sub.test/sub/${token}/telegram"`
    for (const addOne of [() => {}, () => addSubscription(w, -1)]) {
      addOne()
      const text = await page(token)
      expect(text).toContain(connect)
      expect(text).toContain('Connect Telegram')
      expect(text).not.toContain('href="https://t.me/shop_bot"')
    }
    expect(await shop(token)).toMatchObject({ connect_telegram: true })
  })

  test.each([
    ['who has come by Telegram', 7, () => {}],
    ['who has connected it', -1, () => w.change('update users set telegram_id = 7')],
  ])('are those of everybody else for %s', async (_who, tgId, change) => {
    const token = customer(w, tgId)
    addSubscription(w, tgId)
    change()
    const text = await page(token)
    expect(text).not.toContain('/telegram"')
    expect(text).toContain('href="https://t.me/shop_bot"')
    expect(await shop(token)).not.toHaveProperty('connect_telegram')
  })

  test('say nothing of it while there is no bot', async () => {
    const token = addUser(w, -1)
    expect(await page(token)).not.toContain('/telegram"')
    expect(await shop(token)).not.toHaveProperty('connect_telegram')
  })
})
