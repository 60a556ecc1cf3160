import { afterAll, expect, test } from 'vitest'
import cispay from '#test/fixtures/payments/cispay.json' with { type: 'json' }
import cryptobot from '#test/fixtures/payments/cryptobot.json' with { type: 'json' }
import generic from '#test/fixtures/payments/generic.json' with { type: 'json' }
import platega from '#test/fixtures/payments/platega.json' with { type: 'json' }
import stars from '#test/fixtures/payments/stars.json' with { type: 'json' }
import yookassa from '#test/fixtures/payments/yookassa.json' with { type: 'json' }
import { startFakeCryptobot } from '#test/support/fakes/cryptobot.ts'
import { startFakeProviderB } from '#test/support/fakes/provider-b.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { startFakeYookassa } from '#test/support/fakes/yookassa.ts'
import { PAYMENT_ID } from '#test/support/orders.ts'

const TOKEN = '4242:token'
const merchant = { merchantId: 'm', secret: 's' }
const yoo = await startFakeYookassa({ '100500': 'test_key' })
const crypto = await startFakeCryptobot([TOKEN])
const telegram = await startFakeTelegram({ [TOKEN]: 'bot' })
const b = {
  platega: await startFakeProviderB('platega', merchant),
  cispay: await startFakeProviderB('cispay', merchant),
  generic: await startFakeProviderB('generic', merchant),
}
afterAll(() => Promise.all([yoo, crypto, telegram, ...Object.values(b)].map((f) => f.close())))

/** The kinds of a value's fields, down to the leaves. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([x], [y]) => x.localeCompare(y))
      .map(([key, field]) => [key, shapeOf(field)]),
  )
}

/** Only the named fields less. */
function expectShape(actual: unknown, recorded: object, ...without: string[]) {
  const kept = Object.entries(recorded).filter(([key]) => !without.includes(key))
  expect(shapeOf(actual)).toEqual(shapeOf(Object.fromEntries(kept)))
}

async function send(url: string, headers: Record<string, string>, body?: unknown) {
  const answer = await fetch(url, {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  return answer.json()
}

test('YooKassa answers in the recorded shapes', async () => {
  const headers = { authorization: `Basic ${btoa('100500:test_key')}`, 'idempotence-key': 'k' }
  const creation = {
    amount: { value: '199.00', currency: 'RUB' },
    confirmation: { type: 'redirect', return_url: 'https://site.test' },
    description: 'd',
    metadata: { payment_id: 'p', tg_id: '1' },
  }
  const payment = await send(`${yoo.url}/payments`, headers, creation)
  expectShape(payment, yookassa.pending)
  const read = () => send(`${yoo.url}/payments/${payment.id}`, headers)
  yoo.pay(payment.id)
  const details = ['payment_method', 'authorization_details']
  expectShape(await read(), yookassa.succeeded, ...details)
  expectShape(yoo.notice('payment.succeeded', payment.id), {
    ...yookassa.notification,
    object: await read(),
  })
  expectShape(
    await send(`${yoo.url}/payments?limit=1`, headers),
    {
      ...yookassa.list,
      items: [await read()],
    },
    'next_cursor',
  )
  const other = await send(`${yoo.url}/payments`, { ...headers, 'idempotence-key': 'l' }, creation)
  expectShape(await send(`${yoo.url}/payments?limit=1&status=succeeded`, headers), {
    type: 'list',
    items: [await read()],
  })
  expect((await send(`${yoo.url}/payments?limit=1`, headers)).next_cursor).toEqual(
    expect.any(String),
  )
  yoo.cancel(other.id)
  const canceled = await send(`${yoo.url}/payments/${other.id}`, headers)
  expectShape(canceled, yookassa.canceled, ...details)
  expectShape(await send(`${yoo.url}/payments/none`, headers), yookassa.errors.notFound)
  yoo.receipts = true
  const third = { ...headers, 'idempotence-key': 'm' }
  expectShape(await send(`${yoo.url}/payments`, third, creation), yookassa.errors.receipt)
  yoo.paymentRefusal = 429
  expectShape(await send(`${yoo.url}/payments`, headers), yookassa.errors.tooMany)
})

test.each([
  [
    'platega',
    platega,
    { 'x-merchantid': 'm', 'x-secret': 's' },
    '/v2/transaction/process',
    {
      paymentDetails: { amount: 199, currency: 'RUB' },
      description: 'd',
      return: 'https://site.test',
      failedUrl: 'https://site.test',
      payload: PAYMENT_ID,
      metadata: { userId: '1', userName: 'u' },
    },
    (id: string) => `/transaction/${id}`,
  ],
  [
    'cispay',
    cispay,
    { 'x-shop-id': 'm', 'x-api-key': 's' },
    '/payments',
    {
      amount: 19_900,
      currency: 'RUB',
      order_id: PAYMENT_ID,
      payment_method: 'SBP',
      customer_id: '1',
    },
    (id: string) => `/payments/status?id=${id}`,
  ],
  [
    'generic',
    generic,
    { authorization: 'Bearer s', 'x-merchant-id': 'm' },
    '/payments',
    {
      amount: '199.00',
      currency: 'RUB',
      order_id: PAYMENT_ID,
      return_url: 'https://site.test',
      webhook_url: 'https://site.test',
    },
    (id: string) => `/payments/${id}`,
  ],
] as const)(
  '%s answers in the recorded shapes',
  async (preset, recorded, headers, path, body, at) => {
    const fake = b[preset]
    const made = await send(fake.url + path, headers as Record<string, string>, body)
    expectShape(made, recorded.created)
    const id = made.id ?? made.transactionId
    expectShape(await send(fake.url + at(id), headers as Record<string, string>), recorded.state)
    fake.pay(id)
    expectShape(JSON.parse(fake.notice(id).body), recorded.callback)
  },
)

test('CryptoBot answers in the recorded shapes', async () => {
  const headers = { 'crypto-pay-api-token': TOKEN }
  const invoice = {
    currency_type: 'fiat',
    fiat: 'RUB',
    amount: '199.00',
    description: 'd',
    payload: PAYMENT_ID,
    expires_in: 3600,
    paid_btn_name: 'callback',
    paid_btn_url: 'https://site.test',
  }
  const { result } = await send(`${crypto.url}/createInvoice`, headers, invoice)
  expectShape(result, cryptobot.active)
  crypto.pay(result.invoice_id)
  const found = await send(`${crypto.url}/getInvoices`, headers, { invoice_ids: result.invoice_id })
  expectShape(found.result.items[0], cryptobot.paid)
  const update = JSON.parse(crypto.update(result.invoice_id).body)
  expectShape(update, { ...cryptobot.update, payload: cryptobot.paid })
  const wrong = await send(`${crypto.url}/createInvoice`, headers, { ...invoice, expires_in: 0 })
  expect(wrong).toEqual(cryptobot.error)
})

test('Telegram answers about Stars in the recorded shapes', async () => {
  const url = `${telegram.url}/bot${TOKEN}`
  const invoice = {
    title: 't',
    description: 'd',
    payload: PAYMENT_ID,
    provider_token: '',
    currency: 'XTR',
    prices: [{ label: 'l', amount: 150 }],
  }
  const link = await send(`${url}/createInvoiceLink`, {}, invoice)
  expectShape(link, stars.link)
  const payment = telegram.stars.pay(link.result, 1001)
  expectShape(payment, stars.successful_payment)
  telegram.stars.refund(TOKEN, payment.telegram_payment_charge_id)
  const [charge, , refund] = stars.transactions.result.transactions
  expectShape(await send(`${url}/getStarTransactions`, {}, {}), {
    ok: true,
    result: { transactions: [charge, refund] },
  })
})
