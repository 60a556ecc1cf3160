/** What is none of the bot's business, and messages that it cannot change. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { textsOf } from '#src/bot/texts.ts'
import { userOf } from '#test/support/fakes/telegram.ts'
import { type BotShop, type BotUser, createBotShop } from '#test/support/worlds/bot-user.ts'

let shop: BotShop

let ada: BotUser

beforeEach(async () => {
  shop = await createBotShop()
  ada = shop.user({ id: 1, username: 'ada' })
})

afterEach(() => shop.close())

const t = textsOf('en')

const users = () =>
  shop.w.rows('select tg_id, username, lang, blocked_at from users order by tg_id')

/** An update with a message of Ada in a private chat. */
const message = (content: object, more: object = {}) => ({
  message: {
    message_id: 50,
    date: 1,
    from: userOf({ id: 1, language_code: 'en' }),
    chat: { id: 1, type: 'private', first_name: 'Ada' },
    ...content,
    ...more,
  },
})

const replies = () =>
  shop.telegram.calls.map(({ method }) => method).filter((name) => /^(?:send|edit)/.test(name))

describe('what is none of its business', () => {
  test.each([
    ['text', { text: 'hello?' }],
    ['a command that it does not know', { text: '/nothing' }],
    ['a command named as a property of every object', { text: '/constructor' }],
    [
      'a photo',
      { photo: [{ file_id: 'x', file_unique_id: 'x', width: 1, height: 1 }], caption: '<b>' },
    ],
    ['a sticker', { sticker: { file_id: 'x', type: 'regular' } }],
    ['a voice message', { voice: { file_id: 'x', duration: 1 } }],
    ['a contact', { contact: { phone_number: '1', first_name: 'x' } }],
  ])('%s gets the menu with a hint', async (_, content) => {
    await shop.push(message(content) as never)
    expect(ada.last().text).toBe(t.hint)
    expect(ada.buttons()[0]).toBe(t.buy)
  })

  const group = { chat: { id: -100, type: 'supergroup', title: 'G' } }
  test.each<[string, object]>([
    ['an edited message', { edited_message: message({ text: '/start' }).message }],
    ['a message in a group', message({ text: '/start' }, group)],
    [
      'a channel post',
      {
        channel_post: { message_id: 1, date: 1, chat: { id: -5, type: 'channel' }, text: '/start' },
      },
    ],
    ['a notice of Telegram', message({ pinned_message: { message_id: 1 } })],
    [
      'a message of another bot',
      message({ text: '/start' }, { from: { id: 9, is_bot: true, first_name: 'B' } }),
    ],
    [
      'an inline query',
      { inline_query: { id: '1', from: userOf({ id: 1 }), query: 'x', offset: '' } },
    ],
    ['a poll', { poll: { id: '1', question: 'x', options: [] } }],
    [
      'a reaction',
      {
        message_reaction: {
          chat: { id: 1, type: 'private' },
          message_id: 1,
          date: 1,
          old_reaction: [],
          new_reaction: [],
        },
      },
    ],
    [
      'a shipping query',
      { shipping_query: { id: '1', from: userOf({ id: 1 }), invoice_payload: 'x' } },
    ],
    [
      'a join request',
      {
        chat_join_request: { chat: group.chat, from: userOf({ id: 1 }), user_chat_id: 1, date: 1 },
      },
    ],
    ['a boost', { chat_boost: { chat: group.chat, boost: {} } }],
    ['a kind that does not exist yet', { something_new: { from: userOf({ id: 1 }) } }],
    ['an update without content', {}],
  ])('%s is ignored', async (_, update) => {
    const before = shop.w.dump()
    await shop.push(update as never)
    // A kind that is sent on wish only does not even come: it is given to the bot itself.
    await shop.bot.handleUpdate({ update_id: 5000, ...update } as never)
    expect(replies()).toEqual([])
    expect(shop.w.dump()).toBe(before)
  })

  test('a tap outside of private chats does nothing, and under an inline message it is answered', async () => {
    const from = userOf({ id: 1 })
    for (const more of [
      { message: { message_id: 1, date: 1, ...group, text: 'x' } },
      { inline_message_id: 'x' },
    ]) {
      const callback_query = { id: 'q', from, chat_instance: '1', data: 'buy', ...more }
      await shop.bot.handleUpdate({ update_id: 5000, callback_query } as never)
    }
    expect(shop.telegram.callsOf('answerCallbackQuery')).toHaveLength(1)
    expect(replies()).toEqual([])
    expect(users()).toEqual([])
  })

  test('a game’s button, which has no data, is answered', async () => {
    const callback_query = {
      id: 'q',
      from: userOf({ id: 1 }),
      chat_instance: '1',
      game_short_name: 'g',
      message: { message_id: 1, date: 1, chat: { id: 1, type: 'private' }, text: 'x' },
    }
    await shop.bot.handleUpdate({ update_id: 5000, callback_query } as never)
    expect(ada.last().text).toContain('Hello')
  })
})

describe('messages that can’t be changed', () => {
  test('one that is too old gets a new one below it', async () => {
    await ada.say('/start')
    const callback_query = {
      id: 'q',
      from: userOf(ada.person),
      chat_instance: '1',
      data: 'help',
      message: { message_id: 1, date: 0, chat: { id: 1, type: 'private' } },
    }
    await shop.bot.handleUpdate({ update_id: 5000, callback_query } as never)
    expect(ada.messages()).toHaveLength(2)
    expect(ada.last().text).toContain(t.helpText)
  })

  test('one that is deleted gets a new one', async () => {
    await ada.say('/start')
    const old = ada.keep()
    await shop.bot.api.deleteMessage(1, old.message_id)
    await ada.tap(t.help, old)
    expect(ada.messages()).toHaveLength(1)
    expect(ada.last().text).toContain(t.helpText)
  })

  test('a second tap on the same button changes nothing and is answered', async () => {
    await ada.say('/start')
    await ada.tapTwice(t.help)
    expect(ada.messages()).toHaveLength(1)
    expect(shop.telegram.callsOf('answerCallbackQuery')).toHaveLength(2)
  })
})

test('a notice that comes too late for the tap comes as a message', async () => {
  await ada.say('/start')
  const from = userOf(ada.person)
  const callback_query = { id: 'long ago', from, chat_instance: '1', data: 'nothing' }
  const update = {
    update_id: 5000,
    callback_query: { ...callback_query, message: { ...message({ text: 'x' }).message } },
  }
  await shop.bot.handleUpdate(update as never)
  expect(ada.messages().map(({ text }) => text)).toContain(t.stale)
})
