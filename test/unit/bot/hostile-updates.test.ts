/** Updates that Telegram would not make: another program may stand in its place (TELEGRAM_API_URL). */
import type { Update } from 'grammy/types'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { answerUpdate, createBot } from '#src/bot/bot.ts'
import { restoreInto } from '#test/support/calls/restores.ts'
import { type FakeTelegram, startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { addPayment, addSubscription, addUser } from '#test/support/rows/records.ts'
import { TOKEN } from '#test/support/worlds/bot-user.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import { SHOP_ENVIRONMENT } from '#test/support/worlds/shop.ts'

let telegram: FakeTelegram
let w: FileWorld
let answer: (content: object) => Promise<void>
beforeEach(async () => {
  const { BOT_USERNAME } = SHOP_ENVIRONMENT
  telegram = await startFakeTelegram({ [TOKEN]: BOT_USERNAME })
  w = await createFileWorld({
    environment: { ...SHOP_ENVIRONMENT, PUBLIC_SCHEME: 'https', TELEGRAM_API_URL: telegram.url },
  })
  const bot = createBot(w.s, { token: TOKEN, username: BOT_USERNAME })
  let id = 1
  answer = (content) => answerUpdate(w.s, bot, { update_id: id++, ...content } as never as Update)
  addUser(w, -3, { telegram_id: 70, name: 'Bob' })
  addUser(w, -4, { name: 'Eve' })
  addUser(w, 7)
  for (const tgId of [-3, -4, 7]) addSubscription(w, tgId)
  addPayment(w, { id: 'bill', tg_id: 7, provider: 'stars', currency: 'XTR', amount: 100 })
})
afterEach(async () => {
  await w.s.background.idle()
  w.close()
  await telegram.close()
})

const person = (id: unknown, more: object = {}) => ({
  id,
  is_bot: false,
  first_name: 'Ada',
  ...more,
})
const privateChat = (id: unknown) => ({ id, type: 'private', first_name: 'Ada' })
const messageOf = (from: object | undefined, chatId: unknown, content: object) => ({
  message: { message_id: 1, date: 1, from, chat: privateChat(chatId), ...content },
})
const tapOf = (from: object, chatId: unknown, data: unknown) => ({
  callback_query: {
    id: 'q',
    from,
    chat_instance: '1',
    data,
    message: { message_id: 1, date: 1, chat: privateChat(chatId), text: 'x' },
  },
})
const CHARGE = {
  currency: 'XTR',
  total_amount: 100,
  invoice_payload: 'bill',
  telegram_payment_charge_id: 'charge',
  provider_payment_charge_id: '',
}

/** Lets the bot have updates, of which nothing may come. */
async function expectNothingOf(updates: object[]) {
  const before = w.dump()
  for (const update of updates) await answer(update)
  await w.s.background.idle()
  expect(w.dump()).toBe(before)
  expect(telegram.calls).toEqual([])
}

const IDS: [string, unknown][] = [
  ['the number of a customer without Telegram', -4],
  ['the number of one who is connected', -3],
  ['0', 0],
  ['a fraction', 1.5],
  ['a text', '5'],
  ['the id of a customer as a text', '7'],
  ['one that is not exact', 2 ** 60],
  ['nothing', undefined],
  ['null', null],
  ['a list', [7]],
]

/** All that somebody can do, under this id and in the chats of others. */
function updatesFrom(id: unknown): object[] {
  const from = person(id, { username: 'mallory' })
  const status = (name: string) => ({ status: name, user: from })
  return [
    messageOf(from, id, { text: '/my' }),
    messageOf(from, 7, { text: '/my' }),
    tapOf(from, id, 's'),
    tapOf(from, 7, 'reset'),
    { pre_checkout_query: { id: 'q', from, ...CHARGE } },
    messageOf(from, id, { successful_payment: CHARGE }),
    {
      my_chat_member: {
        chat: privateChat(id),
        from,
        date: 1,
        old_chat_member: status('member'),
        new_chat_member: status('kicked'),
      },
    },
  ]
}

test.each(IDS)('from %s: nobody is answered for, and nothing is stored', async (_, id) => {
  await expectNothingOf(updatesFrom(id))
})

test('a backup that is made after them can be restored', async () => {
  for (const update of IDS.flatMap(([, id]) => updatesFrom(id))) await answer(update)
  await answer(messageOf(person(5, { username: 'x'.repeat(256) }), 5, { text: '/start' }))
  await restoreInto(w, (await w.admin('/admin/api/backup')).bytes)
  expect(w.rows('select tg_id from users order by 1').map(({ tg_id }) => tg_id)).toEqual([
    -4, -3, 5, 7,
  ])
})

test('in the chat of somebody else: the answer would be theirs to read', async () => {
  await expectNothingOf([
    messageOf(person(7), 70, { text: '/my' }),
    tapOf(person(7), 70, 's'),
    messageOf(person(7), 70, { text: `/start link_${'x'.repeat(32)}` }),
    tapOf(person(7), 70, `link:${'x'.repeat(32)}`),
    messageOf(person(7), undefined, { text: '/my' }),
  ])
})

test.each<[string, object]>([
  ['a username that is too long', { username: 'x'.repeat(257) }],
  ['a username that is no text', { username: { toString: 'x' } }],
  ['a language that is no text', { language_code: 5 }],
  ['a name that is no text', { first_name: {} }],
  ['no word of whether it is a bot', { is_bot: undefined }],
])('from somebody with %s', async (_, more) => {
  await expectNothingOf([messageOf(person(5, more), 5, { text: '/start' })])
})

test.each<[string, object]>([
  ['an id with a space', { telegram_payment_charge_id: 'a b' }],
  ['an id that is too long', { telegram_payment_charge_id: 'x'.repeat(1025) }],
  ['an empty id', { telegram_payment_charge_id: '' }],
  ['an id that is a number', { telegram_payment_charge_id: 5 }],
  ['a bill that is none', { invoice_payload: { id: 'bill' } }],
  ['a fraction of a Star', { total_amount: 0.5 }],
  ['less than nothing', { total_amount: -100 }],
  ['more than can be counted', { total_amount: 2 ** 60 }],
  ['an amount that is a text', { total_amount: '100' }],
  ['a currency that is none', { currency: 'x\n' }],
])('a charge with %s', async (_, more) => {
  const charge = { ...CHARGE, ...more }
  const unknown = { ...CHARGE, invoice_payload: 'unknown', ...more }
  await expectNothingOf([
    messageOf(person(7), 7, { successful_payment: charge }),
    messageOf(person(7), 7, { successful_payment: unknown }),
    messageOf(person(7), 7, { refunded_payment: charge }),
  ])
  expect(w.log.filter((line) => line.includes('left out'))).toHaveLength(3)
})

test('what is as Telegram makes it goes on', async () => {
  await answer(messageOf(person(2 ** 52), 2 ** 52, { text: '/start' }))
  await answer(messageOf(undefined, 7, { successful_payment: CHARGE }))
  await w.s.background.idle()
  expect(w.rows('select token from users where tg_id = ?', 2 ** 52)).toHaveLength(1)
  expect(w.rows('select external_id from payments')).toEqual([{ external_id: 'charge' }])
})
