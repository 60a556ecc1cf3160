/** Providers that are down, slow, broken or flooded, over HTTP: nothing is granted or failed by it, and no request is held over its limit. */
import { createHash, createHmac } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { type Area, RUNTIMES, type Runtime, type Server } from '#test/support/drivers/process.ts'
import { addBuyer, buy, count, yookassaEnvironment } from '#test/support/drivers/shop-process.ts'
import { expectSound, useAreas } from '#test/support/drivers/torture.ts'
import {
  type Asked,
  type FakeSystem,
  MISBEHAVIOURS,
  type Mood,
  type Reply,
  startFakeSystem,
} from '#test/support/fakes/system.ts'
import { until } from '#test/support/labs/lab.ts'

const area = useAreas()
const systems: FakeSystem[] = []
afterEach(async () => {
  await Promise.all(systems.splice(0).map((system) => system.close()))
})

const PROVIDERS = ['provider_a', 'provider_b', 'cryptobot', 'stars'] as const
type Provider = (typeof PROVIDERS)[number]

/** What is wrong: a mood, or an error by this status. */
const TROUBLES: (Mood | number)[] = [...(Object.keys(MISBEHAVIOURS) as Mood[]), 500]
/** Numbers of payments whose provider wants to be left alone for a second, is well, and is not there at all. */
const BUSY = 96
const WELL = 97
const DOWN = 98

/** A provider may take this long for a creation and for a check; what is on top is ours. */
const LIMITS_MS = { create: { provider_a: 20_000, other: 10_000 }, ask: 10_000, own: 2500 }

/** The pause in the header, and in the body as Telegram says it (core.telegram.org/bots/api#responseparameters). */
const TOO_MANY: Reply = {
  status: 429,
  headers: { 'retry-after': '1' },
  json: { ok: false, error_code: 429, parameters: { retry_after: 1 } },
}

const SECRET = 'secret of the gateway'
const APP = '777:token-of-the-app'
const BOT = '4242:token-of-the-bot'

const nameOf = (number: number) => `mood-${String(number).padStart(2, '0')}`
const idOf = (provider: Provider, number: number) =>
  `00000000-0000-4000-8${PROVIDERS.indexOf(provider)}00-${String(number).padStart(12, '0')}`
const tgIdOf = (provider: Provider, number: number) => 1 + PROVIDERS.indexOf(provider) + 10 * number

/** All providers at one address, where every payment is paid and every order taken; by its name it is known what goes wrong. */
async function startProviders() {
  const own = { starsTrouble: 'silent' as Mood | number | null }
  const money = { value: '199.00', currency: 'RUB' }
  const answers: [path: RegExp, json: (name: string) => unknown][] = [
    [
      /^\/v3\/payments\/./,
      (id) => ({ id, status: 'succeeded', paid: true, amount: money, test: false }),
    ],
    [
      /^\/v3\/payments$/,
      (id) => ({
        ...{ id: `new-${id}`, status: 'pending', paid: false, amount: money },
        confirmation: { confirmation_url: 'https://pay.test/a' },
      }),
    ],
    [
      /^\/b\/transaction\//,
      (id) => ({ id, status: 'CONFIRMED', paymentDetails: { amount: 199, currency: 'RUB' } }),
    ],
    [/^\/b\/v2\//, (id) => ({ transactionId: `new-${id}`, url: 'https://pay.test/b' })],
    [
      /getInvoices$/,
      (invoice_id) => {
        const paid = { invoice_id, status: 'paid', amount: '199', currency_type: 'fiat' }
        return { ok: true, result: { items: [{ ...paid, fiat: 'RUB' }] } }
      },
    ],
    [
      /createInvoice$/,
      (id) => ({
        ok: true,
        result: {
          ...{ invoice_id: `new-${id}`, status: 'active', amount: '199' },
          bot_invoice_url: 'https://t.me/pay',
        },
      }),
    ],
    [/createInvoiceLink$/, () => ({ ok: true, result: 'https://t.me/$invoice' })],
    [
      /getStarTransactions$/,
      () => ({
        ok: true,
        result: {
          transactions: [...TROUBLES.keys(), WELL].map((number) => ({
            ...{ id: `charge-${number}`, amount: 199, date: number },
            source: { invoice_payload: idOf('stars', number) },
          })),
        },
      }),
    ],
  ]
  const system = await startFakeSystem(({ path, body }: Asked): Reply => {
    // Buyers are told of what they were given by a Telegram that never answers.
    if (path.endsWith('sendMessage')) return { status: 200, mood: 'silent' }
    const name = /mood-\d\d/.exec(path + body)?.[0] ?? ''
    if (name === nameOf(BUSY)) return TOO_MANY
    const json = answers.find(([pattern]) => pattern.test(path.split('?')[0] ?? ''))?.[1](name)
    if (path.endsWith('getStarTransactions') && own.starsTrouble === 429) return TOO_MANY
    const trouble = path.endsWith('getStarTransactions')
      ? own.starsTrouble
      : TROUBLES[Number(name.slice(5))]
    if (json === undefined || trouble === undefined || trouble === null)
      return { status: 200, json }
    return typeof trouble === 'number'
      ? { status: trouble, json }
      : { status: 200, json, mood: trouble }
  })
  systems.push(system)
  return { url: system.url, close: () => system.close(), own }
}

const environment = (url: string) => ({
  ...yookassaEnvironment(`${url}/v3`),
  LOG_LEVEL: 'info',
  PROVIDER_B_PRESET: 'platega',
  PROVIDER_B_API_URL: `${url}/b`,
  PROVIDER_B_MERCHANT_ID: 'merchant',
  PROVIDER_B_SECRET: SECRET,
  PROVIDER_B_ENABLED: 'true',
  CRYPTOBOT_API_URL: `${url}/crypto`,
  CRYPTOBOT_TOKEN: APP,
  CRYPTOBOT_ENABLED: 'true',
  TELEGRAM_API_URL: `${url}/telegram`,
  BOT_TOKEN: BOT,
  STARS_ENABLED: 'true',
})

/** A node that carries the number into every order, and of every provider a buyer and a payment that waits. */
function addRows(a: Area, number: number): void {
  const at = new Date().toISOString().slice(0, 19)
  const name = nameOf(number)
  a.write(
    "insert into nodes (code, label, address, sort_order, created_at) values (?, ?, 'nl1.test', 9, ?)",
    ...[name, name, at],
  )
  for (const provider of PROVIDERS) {
    const tgId = tgIdOf(provider, number)
    addBuyer(a, tgId)
    const shops = { provider_a: '100500', provider_b: 'merchant', cryptobot: '777', stars: '4242' }
    const externalId = provider === 'stars' ? idOf(provider, number) : name
    a.write(
      `insert into payments (id, tg_id, node, plan, provider, external_id, amount, currency, days, shop_id, created_at, next_check_at, source)
       values (?, ?, ?, '1m', ?, ?, 199, ?, 30, ?, ?, ?, 'bot')`,
      ...[idOf(provider, number), tgId, name, provider, externalId],
      ...[provider === 'stars' ? 'XTR' : 'RUB', shops[provider], at, at],
    )
  }
}

/** The notice of a payment, as far as its provider sends one. */
function notify(server: Server, provider: Provider, number: number) {
  const id = nameOf(number)
  if (provider === 'provider_a') {
    const object = { id, metadata: { payment_id: idOf(provider, number) } }
    const body = { type: 'notification', event: 'payment.succeeded', object }
    return server.call('/payments/webhook/provider_a', { body })
  }
  if (provider === 'provider_b') {
    const headers = { 'x-merchantid': 'merchant', 'x-secret': SECRET }
    return server.call('/payments/webhook/platega', { headers, body: { id, status: 'CONFIRMED' } })
  }
  const body = { update_type: 'invoice_paid', payload: { invoice_id: id } }
  const key = createHash('sha256').update(APP).digest()
  const signature = createHmac('sha256', key).update(JSON.stringify(body)).digest('hex')
  const headers = { 'crypto-pay-api-signature': signature }
  return server.call('/payments/webhook/cryptobot', { headers, body })
}

interface Outcome {
  kind: 'create' | 'notice' | 'check'
  provider: Provider
  number: number
  ms: number
  status: number
  json: unknown
}

/** Everything that has a provider asked about one payment and one order, at once. */
async function tryAll(server: Server, provider: Provider, number: number): Promise<Outcome[]> {
  const measure = async (kind: Outcome['kind'], send: () => ReturnType<Server['call']>) => {
    const began = performance.now()
    const { status, json } = await send()
    return { kind, provider, number, ms: performance.now() - began, status, json }
  }
  return Promise.all([
    measure('create', () =>
      buy(server, tgIdOf(provider, number), { node: nameOf(number), provider }),
    ),
    ...(provider === 'stars' ? [] : [measure('notice', () => notify(server, provider, number))]),
    measure('check', () => server.admin(`/payments/${idOf(provider, number)}/check`, {})),
  ])
}

const NO_ANSWER = { error: 'the provider gives no answer, try again' }
/** What is answered while nobody knows what became of a payment. */
const EXPECTED = {
  create: [503, NO_ANSWER],
  notice: [200, { ok: true }],
  check: [200, { status: 'pending' }],
} as const

function limitOf({ kind, provider }: Outcome): number {
  const { create, ask, own } = LIMITS_MS
  const theirs =
    kind === 'create' ? (provider === 'provider_a' ? create.provider_a : create.other) : ask
  return theirs + own
}

function expectNothingDone(a: Area, outcomes: Outcome[]): void {
  for (const one of outcomes) {
    const trouble = one.number === BUSY ? 429 : (TROUBLES[one.number] ?? 'down')
    const what = `${one.kind} at ${one.provider}, ${trouble}`
    expect([what, one.status, one.json]).toEqual([what, ...EXPECTED[one.kind]])
    expect(one.ms, what).toBeLessThan(limitOf(one))
  }
  expect(count(a, "payments where status <> 'pending' or review_reason is not null")).toBe(0)
  expect(count(a, 'subscriptions')).toBe(0)
}

async function tryRuntime(runtime: Runtime): Promise<string> {
  const providers = await startProviders()
  const a = area(environment(providers.url))
  const server = await a.startServer({ runtime, entry: `entry/${runtime}.ts` })
  await server.admin('/nodes')
  a.write("update plans set price_stars = 199 where code = '1m'")
  for (const number of TROUBLES.keys()) addRows(a, number)
  // The reconciler asks at the same time.
  const scheduler = a.spawn({ runtime, entry: 'entry/scheduler.ts' })
  const pairs = [...TROUBLES.keys()].flatMap((number) =>
    PROVIDERS.map((provider) => [provider, number] as const),
  )
  const outcomes = (
    await Promise.all(pairs.map(([provider, number]) => tryAll(server, provider, number)))
  ).flat()
  expectNothingDone(a, outcomes)
  const unanswered = a.lines.filter(({ text }) => text.includes('a provider gave no link'))
  expect(unanswered, 'every order was asked for').toHaveLength(pairs.length)
  for (const [number, trouble] of TROUBLES.entries()) {
    // Both take the whole 10 s; the first was tried above.
    if (trouble === 'silent' || trouble === 'dripping') continue
    providers.own.starsTrouble = trouble
    const { json } = await server.admin(`/payments/${idOf('stars', number)}/check`, {})
    expect([trouble, json]).toEqual([trouble, { status: 'pending' }])
  }
  providers.own.starsTrouble = 429
  addRows(a, BUSY)
  const busy = (
    await Promise.all(PROVIDERS.map((provider) => tryAll(server, provider, BUSY)))
  ).flat()
  expectNothingDone(a, busy)
  // Until its pause is over nobody asks it anything.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  await scheduler.stop()

  // The control: the same answers from a provider that is well are believed.
  providers.own.starsTrouble = null
  addRows(a, WELL)
  for (const provider of PROVIDERS) {
    const well = await tryAll(server, provider, WELL)
    expect(well.map(({ status }) => status)).toEqual(well.map(() => 200))
    expect(Math.max(...well.map(({ ms }) => ms))).toBeLessThan(LIMITS_MS.own)
    await until(
      'it is paid',
      () => count(a, `payments where id = '${idOf(provider, WELL)}' and status = 'paid'`) === 1,
    )
  }
  a.write(`delete from subscriptions`)
  a.write(
    `delete from payments where status = 'paid' or external_id like 'new-%' or pay_url is not null`,
  )

  await providers.close()
  addRows(a, DOWN)
  const down = await Promise.all(PROVIDERS.map((provider) => tryAll(server, provider, DOWN)))
  expectNothingDone(a, down.flat())
  await server.stop()
  expectSound(a)
  const slowest = (kind: Outcome['kind']) =>
    Math.max(...outcomes.filter((one) => one.kind === kind).map(({ ms }) => ms)) / 1000
  return `${runtime}: ${outcomes.length + busy.length + down.flat().length} requests while something was wrong, the slowest creation ${slowest('create').toFixed(1)} s, notice ${slowest('notice').toFixed(1)} s, check ${slowest('check').toFixed(1)} s`
}

test(`providers in ${TROUBLES.length + 2} kinds of trouble grant nothing, fail nothing, hold up nothing`, async () => {
  for (const line of await Promise.all(RUNTIMES.map(tryRuntime))) console.log(line)
}, 180_000)
