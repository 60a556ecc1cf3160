/** The fake Bot API against core.telegram.org/bots/api and, where that is silent, Telegram's own server (Client.cpp). */
import { Api, type GrammyError, InputFile } from 'grammy/web'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { until } from '#test/support/labs/lab.ts'

const TOKEN = '111111:AAE-Shop_token_of_the_first_bot_xyz'
const telegram = await startFakeTelegram({ [TOKEN]: 'shop_bot' })
afterAll(() => telegram.close())
beforeEach(() => telegram.reset())

const api = new Api(TOKEN, { apiRoot: telegram.url })
const ada = { id: 7 }
/** What a call is refused with. */
const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    (error: GrammyError) => `${error.error_code} ${error.description}`,
  )
const texts = async (options: object) =>
  (await api.getUpdates(options)).map(({ message }) => message?.text)

describe('getUpdates', () => {
  test('gives what was not confirmed, again and again, and forgets what is below the offset', async () => {
    for (const text of ['a', 'b', 'c']) telegram.say(ada, text)
    expect(await texts({ limit: 2 })).toEqual(['a', 'b'])
    const [first] = telegram.updates.waiting(TOKEN)
    expect(await texts({ offset: (first?.update_id ?? 0) + 1 })).toEqual(['b', 'c'])
    expect(telegram.updates.waiting(TOKEN)).toHaveLength(2)
  })

  test('gives only one update to who repeats an offset within half a second', async () => {
    for (const text of ['a', 'b']) telegram.say(ada, text)
    expect(await texts({})).toEqual(['a', 'b'])
    expect(await texts({})).toEqual(['a'])
  })

  test('makes who repeats an offset within 3 seconds wait, where there is nothing', async () => {
    expect(await texts({ timeout: 0 })).toEqual([])
    const from = performance.now()
    expect(await texts({ timeout: 0 })).toEqual([])
    expect(performance.now() - from).toBeGreaterThan(2500)
  })

  test('a second long poll ends the first one, a short one does not', async () => {
    const first = refusalOf(api.getUpdates({ timeout: 20 }))
    await until('it waits', () => telegram.updates.isPolling(TOKEN))
    await api.getUpdates({ offset: 1, timeout: 0 })
    const second = texts({ offset: 2, timeout: 20 })
    expect(await first).toBe(
      '409 Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
    )
    telegram.say(ada, 'hello')
    expect(await second).toEqual(['hello'])
  })

  test('is refused while a webhook is set, which deleteWebhook ends', async () => {
    telegram.updates.setWebhook(TOKEN, 'https://elsewhere.test/')
    expect(await refusalOf(api.getUpdates())).toBe(
      "409 Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    )
    await api.deleteWebhook()
    expect(await texts({ offset: 1 })).toEqual([])
  })

  test('leaves out kinds that are not wanted, from the next update on', async () => {
    const post = { channel_post: { message_id: 1 } } as never
    expect(telegram.push(TOKEN, post)).toEqual(expect.any(Number))
    expect(await api.getUpdates({ allowed_updates: ['message'] })).toHaveLength(1)
    expect(telegram.push(TOKEN, post)).toBe(null)
  })
})

describe('messages', () => {
  const button = { text: 'x' }
  const keyboard = (one: object) => ({ reply_markup: { inline_keyboard: [[one as never]] } })

  test.each([
    [{ ...button, callback_data: 'x'.repeat(64) }, 'accepted'],
    [{ ...button, callback_data: 'я'.repeat(33) }, '400 Bad Request: BUTTON_DATA_INVALID'],
    [{ ...button, callback_data: '' }, '400 Bad Request: BUTTON_DATA_INVALID'],
    [{ ...button, url: 'tg://resolve?domain=x' }, 'accepted'],
    [{ ...button, url: 'https://site.test/' }, 'accepted'],
    [{ ...button, url: 'happ://add/x' }, /Unsupported URL protocol$/],
    [{ ...button, url: 'http://localhost:3000/' }, /Wrong HTTP URL$/],
    [{ ...button, copy_text: { text: 'x'.repeat(256) } }, 'accepted'],
    [
      { ...button, copy_text: { text: 'x'.repeat(257) } },
      '400 Bad Request: BUTTON_COPY_TEXT_INVALID',
    ],
    [button, /Text buttons are unallowed/],
    [{ text: '', callback_data: 'x' }, /must be non-empty$/],
  ])('with the button %j', async (one, answer) => {
    const said = await refusalOf(api.sendMessage(7, 'hello', keyboard(one)))
    expect(said).toEqual(typeof answer === 'string' ? answer : expect.stringMatching(answer))
    expect(telegram.chat(7)).toHaveLength(said === 'accepted' ? 1 : 0)
  })

  test('stand as they were last edited, and say what was tapped', async () => {
    const { message_id } = await api.sendMessage(
      7,
      'one',
      keyboard({ ...button, callback_data: 'd' }),
    )
    const [message] = telegram.chat(7)
    if (!message) throw new Error('no message')
    const query = telegram.tap(ada, message, 'x')
    expect((await api.getUpdates()).map((update) => update.callback_query)).toEqual([
      expect.objectContaining({
        id: query,
        data: 'd',
        message: expect.objectContaining({ text: 'one' }),
      }),
    ])
    expect(await refusalOf(api.answerCallbackQuery(query))).toBe('accepted')
    expect(await refusalOf(api.answerCallbackQuery('0'))).toMatch(
      /^400 Bad Request: query is too old/,
    )
    await api.editMessageText(7, message_id, 'two')
    expect(telegram.chat(7)).toEqual([expect.objectContaining({ text: 'two' })])
    expect(telegram.chat(7)[0]?.reply_markup).toBe(undefined)
    expect(await refusalOf(api.editMessageText(7, message_id, 'two'))).toMatch(/is not modified/)
    expect(await refusalOf(api.editMessageText(7, 999, 'two'))).toMatch(
      /message to edit not found$/,
    )
    expect(() => telegram.tap(ada, message, 'x')).toThrow('no button')
  })

  test('with a photo come as a form; what is no picture is refused', async () => {
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff, 0x00])
    await api.sendPhoto(7, new InputFile(png, 'qr.png'), {
      caption: 'ключ',
      ...keyboard({ ...button, callback_data: 'd' }),
    })
    expect(telegram.chat(7)).toEqual([
      expect.objectContaining({
        caption: 'ключ',
        photo: png,
        reply_markup: { inline_keyboard: [[{ ...button, callback_data: 'd' }]] },
      }),
    ])
    const text = new TextEncoder().encode('<svg/>')
    expect(await refusalOf(api.sendPhoto(7, new InputFile(text)))).toMatch(/IMAGE_PROCESS_FAILED$/)
    const { message_id } = telegram.chat(7)[0] as { message_id: number }
    expect(await refusalOf(api.editMessageText(7, message_id, 'x'))).toMatch(
      /no text in the message/,
    )
  })

  test('to who has blocked the bot, to strangers, and in a flood are refused', async () => {
    telegram.setBlocked(ada, true)
    expect(await refusalOf(api.sendMessage(7, 'x'))).toBe(
      '403 Forbidden: bot was blocked by the user',
    )
    telegram.strangers.add(8)
    expect(await refusalOf(api.sendMessage(8, 'x'))).toBe('400 Bad Request: chat not found')
    telegram.floods = 1
    expect(await refusalOf(api.sendMessage(9, 'x'))).toBe('429 Too Many Requests: retry after 1')
    expect(await refusalOf(api.sendMessage(9, ''))).toBe('400 Bad Request: message text is empty')
    const [{ my_chat_member } = {}] = await api.getUpdates()
    expect(my_chat_member?.new_chat_member.status).toBe('kicked')
  })

  test('401 for an unknown token, 404 for what is none', async () => {
    const me = (token: string) => refusalOf(new Api(token, { apiRoot: telegram.url }).getMe())
    expect(await me('2:x')).toBe('401 Unauthorized')
    expect(await me('x')).toBe('404 Not Found')
  })
})
