/**
 * A customer buys in the bot, pays at the provider, and their client connects through the real Xray: by webhook, by "I have paid", by
 * the reconciler.
 */
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textsOf } from '#src/bot/texts.ts'
import { formatPrice } from '#src/lib/format.ts'
import {
  type ChatMessage,
  type FakeTelegram,
  type Person,
  startFakeTelegram,
} from '#test/support/fakes/telegram.ts'
import { type FakeYookassa, startFakeYookassa } from '#test/support/fakes/yookassa.ts'
import { type Bridge, bridge } from '#test/support/labs/bridge.ts'
import { createLab, type Lab, startTarget, type Target, until } from '#test/support/labs/lab.ts'
import {
  fetchThrough,
  type Runtime,
  type Service,
  startLinkClient,
  startService,
} from '#test/support/labs/service.ts'

const TOKEN = '4242:token-of-the-bot'
const texts = textsOf('ru')
const MONTH = `30 days · ${formatPrice(199, 'RUB', 'ru')}`
const PAY = texts.pay(formatPrice(199, 'RUB', 'ru'))

describe.each<Runtime>(['node', 'bun'])('on %s', (runtime) => {
  let lab: Lab
  let target: Target
  let service: Service
  let telegram: FakeTelegram
  let yookassa: FakeYookassa
  const bridges: Bridge[] = []

  async function startShop() {
    const [toTelegram, toYookassa] = bridges as [Bridge, Bridge]
    return startService(lab, target, runtime, 'data', {
      PUBLIC_SCHEME: 'https',
      TELEGRAM_API_URL: toTelegram.url,
      BOT_TOKEN: TOKEN,
      BOT_USERNAME: 'shop_bot',
      PROVIDER_A_API_URL: toYookassa.url,
      PROVIDER_A_SHOP_ID: '100500',
      PROVIDER_A_SECRET_KEY: 'live_a',
      PROVIDER_A_ENABLED: 'true',
      PAYMENTS_ENABLED: 'true',
    })
  }

  beforeAll(async () => {
    lab = createLab()
    target = await startTarget(lab)
    telegram = await startFakeTelegram({ [TOKEN]: 'shop_bot' })
    yookassa = await startFakeYookassa({ 100500: 'live_a' })
    bridges.push(await bridge(lab, telegram.url, 7001), await bridge(lab, yookassa.url, 7002))
    service = await startShop()
  })
  afterAll(async () => {
    lab?.close()
    for (const one of bridges.splice(0)) one.close()
    await Promise.all([telegram?.close(), yookassa?.close()])
  })

  /** The person's message that has a button with this text. */
  const withButton = (person: Person, text: string): Promise<ChatMessage> =>
    until(
      `a button ${text}\n${service.process.output()}`,
      () =>
        telegram
          .chat(person.id)
          .findLast((one) =>
            one.reply_markup?.inline_keyboard.flat().some((button) => button.text === text),
          ),
      20_000,
    )

  /** Buys a month; what YooKassa knows of it. */
  async function order(person: Person) {
    telegram.say(person, '/start')
    telegram.tap(person, await withButton(person, texts.buy), texts.buy)
    telegram.tap(person, await withButton(person, MONTH), MONTH)
    const url = telegram.tap(person, await withButton(person, PAY), PAY)
    const found = [...yookassa.payments.values()].find(
      ({ confirmation }) => confirmation?.confirmation_url === url,
    )
    if (!found) throw new Error(`YooKassa does not know ${url}`)
    return found
  }

  /** The link of the message that tells of a grant. */
  const grantedLink = (person: Person) =>
    until(
      `the message about the grant\n${service.process.output()}`,
      () =>
        telegram
          .chat(person.id)
          .map(({ text }) => /https:\/\/sub\.test(\/sub\/[\w-]+)/.exec(text ?? '')?.[1])
          .find((path) => path !== undefined),
      20_000,
    )

  async function connect(path: string) {
    const list = (await service.request(path, { agent: 'v2rayNG/2.3.5' })).text
    const client = startLinkClient(lab, list)
    await until(
      `the page comes\n${client.process.output()}`,
      async () => (await fetchThrough(lab, target, client)) === 'hello',
      20_000,
    )
  }

  test('the provider’s webhook grants, and the client connects', async () => {
    const ada = { id: 1, username: 'ada', language_code: 'ru' }
    const { id } = await order(ada)
    yookassa.pay(id)
    const begin = performance.now()
    const answer = await service.request('/payments/webhook/provider_a', {
      body: yookassa.notice('payment.succeeded', id),
    })
    expect([answer.status, answer.json]).toEqual([200, { ok: true }])
    await connect(await grantedLink(ada))
    console.log(
      `${runtime}: connected ${Math.round(performance.now() - begin)} ms after the webhook`,
    )
    // The buyer taps nevertheless.
    telegram.tap(ada, await withButton(ada, texts.paid), texts.paid)
    await until('the bill becomes a receipt', () =>
      telegram.chat(ada.id).some(({ text }) => text?.includes('Оплачено. Спасибо!')),
    )
    const { json } = await service.admin('/users/1')
    expect(json.username).toBe('ada')
    expect(json.subscriptions).toHaveLength(1)
    expect(json.subscriptions[0]).toMatchObject({ source: 'payment', node: 'de1', plan: '1m' })
  })

  test('"I have paid" grants where no webhook came', async () => {
    const bob = { id: 2, language_code: 'ru' }
    const { id } = await order(bob)
    const bill = await withButton(bob, texts.paid)
    telegram.tap(bob, bill, texts.paid)
    await until('the buyer is told', () =>
      telegram
        .callsOf('answerCallbackQuery')
        .some(({ params }) => params.text === texts.notPaidYet),
    )
    yookassa.pay(id)
    await until(
      'the buyer is heard again after 5 s',
      async () => {
        telegram.tap(bob, bill, texts.paid)
        await new Promise((resolve) => setTimeout(resolve, 1000))
        return telegram.chat(bob.id).some(({ text }) => text?.includes('Оплачено. Спасибо!'))
      },
      20_000,
    )
    await connect(await grantedLink(bob))
    expect((await service.admin('/users/2')).json.subscriptions).toHaveLength(1)
  })

  test('the reconciler grants after a restart where nobody said anything', async () => {
    const eve = { id: 3, language_code: 'ru' }
    const { id } = await order(eve)
    yookassa.pay(id)
    expect(await service.stop()).toBe(0)
    const db = new Sqlite(join(lab.dir, 'data/panel.db'))
    db.prepare("update payments set next_check_at = '2020-01-01T00:00:00' where tg_id = 3").run()
    db.close()
    service = await startShop()
    await connect(await grantedLink(eve))
    expect((await service.admin('/users/3')).json.subscriptions).toHaveLength(1)
    expect(await service.stop()).toBe(0)
  })
})
