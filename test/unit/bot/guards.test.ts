/** What every update passes before the flows, and what is logged of those that fail. */
import type { Update } from 'grammy/types'
import { HttpError } from 'grammy/web'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { answerUpdate } from '#src/bot/bot.ts'
import { createFloodGuard } from '#src/bot/flood.ts'
import { userOf } from '#test/support/fakes/telegram.ts'
import { type BotShop, createBotShop, TOKEN } from '#test/support/worlds/bot-user.ts'

let shop: BotShop
beforeEach(async () => {
  shop = await createBotShop()
})
afterEach(() => shop.close())

const ada = userOf({ id: 1, language_code: 'en' })
const chat = { id: 1, type: 'private', first_name: 'Ada' }
let nextId = 1
const updateOf = (content: object) => ({ update_id: nextId++, ...content }) as never as Update
const message = (content: object, more: object = {}) =>
  updateOf({ message: { message_id: 1, date: 1, from: ada, chat, ...content, ...more } })
const answer = (update: Update) => answerUpdate(shop.w.s, shop.bot, update)
const sentTo = (id: number) => shop.telegram.sent.filter(({ chat_id }) => chat_id === id).length
const lines = () => shop.w.log.filter((line) => / (?:error|warn) /.test(line))

describe('the flood guard', () => {
  test('lets a person have 20 updates in 10 seconds, and then again', async () => {
    for (let n = 0; n < 30; n++) await answer(message({ text: 'hello' }))
    expect(sentTo(1)).toBe(20)
    shop.w.clock.advance(9_999)
    await answer(message({ text: 'hello' }))
    expect(sentTo(1)).toBe(20)
    await answer(message({ text: 'hello' }, { from: userOf({ id: 2 }), chat: { ...chat, id: 2 } }))
    expect(sentTo(2)).toBe(1)
    shop.w.clock.advance(1)
    await answer(message({ text: 'hello' }))
    expect(sentTo(1)).toBe(21)
  })

  test('never keeps a payment back', async () => {
    for (let n = 0; n < 30; n++) await answer(message({ text: 'hello' }))
    const asked = updateOf({
      pre_checkout_query: {
        id: 'q1',
        from: ada,
        currency: 'XTR',
        total_amount: 1,
        invoice_payload: 'unknown',
      },
    })
    await answer(asked)
    expect(shop.telegram.callsOf('answerPreCheckoutQuery')).toHaveLength(1)
  })

  test('forgets people, so that many of them do not fill the memory', () => {
    let now = 0
    const isWithin = createFloodGuard(1, 10, () => now)
    for (let id = 0; id < 25_000; id++) {
      now = id
      expect(isWithin(id)).toBe(true)
    }
    expect([isWithin(24_999), isWithin(0)]).toEqual([false, true])
  })
})

describe('groups and channels', () => {
  const group = { id: -100, type: 'supergroup', title: 'Group' }
  const member = (status: string) =>
    updateOf({
      my_chat_member: {
        chat: group,
        from: ada,
        date: 1,
        old_chat_member: { status: 'left', user: ada },
        new_chat_member: { status, user: ada },
      },
    })

  test.each(['member', 'administrator'])('are left by a new %s', async (status) => {
    await answer(member(status))
    expect(shop.telegram.calls.map(({ method, params }) => [method, params])).toEqual([
      ['leaveChat', { chat_id: -100 }],
    ])
  })

  test('are not answered', async () => {
    const before = shop.w.dump()
    await answer(member('left'))
    await answer(message({ text: '/start' }, { chat: group }))
    await answer(
      updateOf({ channel_post: { message_id: 1, date: 1, chat: group, text: '/start' } }),
    )
    expect([shop.telegram.calls, lines(), shop.w.dump()]).toEqual([[], [], before])
  })
})

describe('calls', () => {
  test('wait as long as Telegram asks, where that is short', async () => {
    shop.telegram.floods = 1
    const from = performance.now()
    await answer(message({ text: '/help' }))
    expect(performance.now() - from).toBeGreaterThan(900)
    expect([sentTo(1), lines()]).toEqual([1, []])
  })

  test('that are refused longer are given up, and the log says why', async () => {
    Object.assign(shop.telegram, { floods: 100, floodSeconds: 11 })
    await answer(message({ text: '/help' }))
    expect([sentTo(1), shop.telegram.callsOf('sendMessage')]).toEqual([0, [expect.anything()]])
    expect(lines()).toEqual([
      expect.stringMatching(
        /the bot failed at an update update=\d+ kind=message reason=.*429 Too Many/,
      ),
    ])
  })
})

describe('what fails', () => {
  test.each(['html', 'hanging up', 'a gateway error', 'redirecting', 'ten megabytes'] as const)(
    'is logged without token, address and text while Telegram is %s',
    async (mood) => {
      shop.telegram.mood = mood
      await answer(message({ text: 'my secret words' }))
      shop.telegram.mood = null
      expect(lines()).toHaveLength(1)
      expect(lines()[0]).toContain("Network request for 'sendMessage' failed!")
      const log = shop.w.log.join('\n')
      for (const secret of [TOKEN, TOKEN.slice(10), shop.telegram.url, 'secret words'])
        expect(log).not.toContain(secret)
    },
  )

  test('a fault of ours is logged, a damaged database ends the process, the next update is answered', async () => {
    const fault = new Error('no such thing')
    const { tx } = shop.w.s.db
    shop.w.s.db.tx = () => Promise.reject(fault)
    await answer(message({ text: '/start' }))
    shop.w.s.db.tx = tx
    // The sender is told.
    expect(sentTo(1)).toBe(1)
    expect(lines()).toEqual([expect.stringContaining('reason="no such thing"')])
    expect(shop.w.fatal).toEqual([fault])
    await answer(message({ text: '/start' }))
    expect(sentTo(1)).toBe(2)
  })

  test('words that Telegram quotes do not reach the log', async () => {
    shop.bot.use(() => {
      throw new HttpError('never seen', new Error('x'))
    })
    shop.bot.api.config.use(async (call, method, payload, signal) =>
      method === 'sendMessage'
        ? { ok: false, error_code: 400, description: 'Bad Request: wrong "my secret" in \'words\'' }
        : call(method, payload, signal),
    )
    await answer(message({ text: '/start' }))
    expect(lines()[0]).toContain('sendMessage: 400 Bad Request: wrong … in …')
    expect(shop.w.log.join('\n')).not.toContain('secret')
  })
})
