/** YooKassa's API v3, as far as it is used: https://yookassa.ru/developers/api. Payments are driven by the test. */
import { type Asked, type FakeSystem, type Reply, startFakeSystem } from './system.ts'

const refusal = (status: number, code: string, description: string, parameter?: string): Reply => ({
  status,
  json: { type: 'error', id: crypto.randomUUID(), code, description, parameter },
})

type Money = { value: string; currency: string }

/** A payment as the API shows it. */
export interface FakePayment {
  id: string
  status: 'pending' | 'waiting_for_capture' | 'succeeded' | 'canceled'
  paid: boolean
  amount: Money
  created_at: string
  description?: string
  metadata: Record<string, string>
  recipient: { account_id: string; gateway_id: string }
  refundable: boolean
  test: boolean
  confirmation?: { type: string; return_url: string; confirmation_url: string }
  captured_at?: string
  income_amount?: Money
  refunded_amount?: Money
  cancellation_details?: { party: string; reason: string }
}

export interface FakeYookassa extends FakeSystem {
  /** Secret keys by shop id; a key that begins with `test_` makes test payments. */
  shops: Record<string, string>
  /** What `/me` answers other than 200. */
  meRefusal: 403 | 404 | 429 | 500 | null
  /** What the list of payments answers other than 200. */
  listRefusal: 403 | 500 | null
  /** What everything about payments answers other than 200. */
  paymentRefusal: 400 | 403 | 404 | 429 | 500 | null
  /** Whether the shop sends receipts by 54-FZ, and so demands them. */
  receipts: boolean
  payments: Map<string, FakePayment>
  /** The payments that carry this id of ours. */
  paymentsOf(paymentId: string): FakePayment[]
  now(): Date
  pay(id: string, changes?: Partial<FakePayment>): FakePayment
  cancel(id: string, reason?: string): FakePayment
  /** Gives money back; all of it unless told otherwise. */
  refund(id: string, value?: string): FakePayment
  /** The notification of an event. */
  notice(event: string, id: string): { type: string; event: string; object: unknown }
}

const REFUSALS = {
  400: () => refusal(400, 'invalid_request', 'Incorrect currency of payment', 'amount.currency'),
  403: () => refusal(403, 'forbidden', 'Not enough rights'),
  404: () => refusal(404, 'not_found', "Payment doesn't exist or access denied"),
  429: (): Reply => ({
    status: 429,
    json: {
      type: 'error',
      id: crypto.randomUUID(),
      code: 'too_many_requests',
      description: 'Too many requests',
      retry_after: 1800,
    },
  }),
  500: () => refusal(500, 'internal_server_error', 'Internal server error'),
} as const

/** The key of a creation counts this long; later it begins a new payment. */
const KEY_LIFE_MS = 24 * 3_600_000

function shopOf(shops: Record<string, string>, { headers }: Asked): string | null {
  const [scheme, credentials = ''] = (headers.authorization ?? '').split(' ')
  const [shop = '', key] = Buffer.from(credentials, 'base64').toString().split(':')
  return scheme === 'Basic' && key !== undefined && shops[shop] === key ? shop : null
}

const isMoney = (money: Money | undefined) =>
  money !== undefined && /^\d+\.\d{2}$/.test(money.value) && /^[A-Z]{3}$/.test(money.currency)

/** What is wrong with the body of a creation, by the API's description. */
// biome-ignore lint/suspicious/noExplicitAny: a request's body
function faultOf(body: any, receipts: boolean): [parameter: string, description: string] | null {
  if (!isMoney(body?.amount)) return ['amount', 'Amount is illegal']
  if ((body.description ?? '').length > 128) return ['description', 'Description is too long']
  const metadata = Object.entries(body.metadata ?? {})
  const fits = ([key, value]: [string, unknown]) =>
    key.length <= 32 && typeof value === 'string' && value.length <= 512
  if (metadata.length > 16 || !metadata.every(fits)) return ['metadata', 'Metadata is illegal']
  if (body.confirmation?.type !== 'redirect' || !URL.canParse(body.confirmation.return_url)) {
    return ['confirmation', 'Confirmation is missing or illegal']
  }
  return isReceiptWell(body, receipts) ? null : ['receipt', 'Receipt is missing or illegal']
}

// biome-ignore lint/suspicious/noExplicitAny: a request's body
function isReceiptWell({ receipt, amount }: any, demanded: boolean): boolean {
  if (!receipt) return !demanded
  const sum = (receipt.items ?? []).reduce(
    (total: number, item: { amount: Money; quantity: number }) =>
      total + Number(item.amount.value) * item.quantity,
    0,
  )
  // biome-ignore lint/suspicious/noExplicitAny: a request's body
  const isWell = (item: any) =>
    item.description.length >= 1 && item.description.length <= 128 && item.vat_code >= 1
  return (
    /@/.test(receipt.customer?.email) && sum === Number(amount.value) && receipt.items.every(isWell)
  )
}

/** The list's page after `cursor`, newest first. */
function page(payments: FakePayment[], query: URLSearchParams): Reply {
  const limit = Number(query.get('limit') ?? 10)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) return REFUSALS[400]()
  const from = query.get('created_at.gte') ?? ''
  const status = query.get('status')
  const found = payments
    .filter((one) => one.created_at >= from && (status === null || one.status === status))
    .sort((a, b) => b.created_at.localeCompare(a.created_at) || b.id.localeCompare(a.id))
  const start = query.has('cursor') ? found.findIndex(({ id }) => id === query.get('cursor')) : 0
  if (start < 0) return REFUSALS[400]()
  const next = found[start + limit]
  const items = found.slice(start, start + limit)
  return { status: 200, json: { type: 'list', items, ...(next ? { next_cursor: next.id } : {}) } }
}

export async function startFakeYookassa(shops: Record<string, string>): Promise<FakeYookassa> {
  const keys = new Map<string, { id: string; body: string; at: number }>()

  function create(shop: string, { headers, body }: Asked): Reply {
    const key = headers['idempotence-key'] ?? ''
    if (!/^[0-9a-zA-Z+\-_.]{1,64}$/.test(key)) {
      return refusal(400, 'invalid_request', 'Idempotence key is missing', 'Idempotence-Key')
    }
    const known = keys.get(`${shop} ${key}`)
    if (known && fake.now().getTime() - known.at < KEY_LIFE_MS) {
      return known.body === body
        ? { status: 200, json: fake.payments.get(known.id) }
        : refusal(400, 'invalid_request', 'Idempotence key duplicated', 'Idempotence-Key')
    }
    const order = JSON.parse(body)
    const fault = faultOf(order, fake.receipts)
    if (fault) return refusal(400, 'invalid_request', fault[1], fault[0])
    const id = crypto.randomUUID()
    const payment: FakePayment = {
      id,
      status: 'pending',
      paid: false,
      amount: order.amount,
      confirmation: {
        type: 'redirect',
        return_url: order.confirmation.return_url,
        confirmation_url: `https://yoomoney.ru/checkout/payments/v2/contract?orderId=${id}`,
      },
      created_at: fake.now().toISOString(),
      description: order.description,
      metadata: order.metadata ?? {},
      recipient: { account_id: shop, gateway_id: '100700' },
      refundable: false,
      test: (fake.shops[shop] ?? '').startsWith('test_'),
    }
    fake.payments.set(id, payment)
    keys.set(`${shop} ${key}`, { id, body, at: fake.now().getTime() })
    return { status: 200, json: payment }
  }

  function answerPayments(shop: string, asked: Asked, url: URL): Reply {
    if (fake.paymentRefusal) return REFUSALS[fake.paymentRefusal]()
    const id = /^\/v3\/payments\/([^/]+)$/.exec(url.pathname)?.[1]
    const own = [...fake.payments.values()].filter((one) => one.recipient.account_id === shop)
    if (id !== undefined) {
      const payment = own.find((one) => one.id === id)
      return payment ? { status: 200, json: payment } : REFUSALS[404]()
    }
    if (asked.method === 'POST') return create(shop, asked)
    return fake.listRefusal ? REFUSALS[fake.listRefusal]() : page(own, url.searchParams)
  }

  const system = await startFakeSystem((asked) => {
    const shop = shopOf(fake.shops, asked)
    if (shop === null) {
      const text = 'Error in shopId or secret key. Check their validity.'
      return refusal(401, 'invalid_credentials', text, 'Authorization')
    }
    const url = new URL(asked.path, 'http://api.test')
    if (url.pathname === '/v3/me') {
      if (fake.meRefusal) return REFUSALS[fake.meRefusal]()
      const fiscalization = { enabled: true, provider: 'avanpost' }
      const me = { account_id: '100500', status: 'enabled', test: true, fiscalization }
      return { status: 200, json: { ...me, payment_methods: ['bank_card'], itn: '0123456789' } }
    }
    return url.pathname.startsWith('/v3/payments')
      ? answerPayments(shop, asked, url)
      : REFUSALS[404]()
  })

  function change(id: string, changes: Partial<FakePayment>): FakePayment {
    const payment = fake.payments.get(id)
    if (!payment) throw new Error(`no payment ${id}`)
    delete payment.confirmation
    return Object.assign(payment, changes)
  }

  const { reset } = system
  const asNew = () => ({
    meRefusal: null,
    listRefusal: null,
    paymentRefusal: null,
    receipts: false,
    now: () => new Date(),
  })
  const fake: FakeYookassa = Object.assign(system, {
    url: `${system.url}/v3`,
    shops,
    payments: new Map<string, FakePayment>(),
    ...asNew(),
    reset() {
      reset()
      fake.payments.clear()
      keys.clear()
      Object.assign(fake, asNew())
    },
    paymentsOf: (paymentId: string) =>
      [...fake.payments.values()].filter((one) => one.metadata.payment_id === paymentId),
    pay: (id: string, changes: Partial<FakePayment> = {}) => {
      const { currency, value } = fake.payments.get(id)?.amount ?? { currency: '', value: '0' }
      return change(id, {
        status: 'succeeded',
        paid: true,
        refundable: true,
        captured_at: fake.now().toISOString(),
        income_amount: { value: (Number(value) * 0.965).toFixed(2), currency },
        refunded_amount: { value: '0.00', currency },
        ...changes,
      })
    },
    cancel: (id: string, reason = 'expired_on_confirmation') =>
      change(id, { status: 'canceled', cancellation_details: { party: 'yoo_money', reason } }),
    refund: (id: string, value?: string) => {
      const { amount } = change(id, {})
      return change(id, { refunded_amount: { ...amount, value: value ?? amount.value } })
    },
    notice: (event: string, id: string) => ({
      type: 'notification',
      event,
      object: structuredClone(fake.payments.get(id)),
    }),
  })
  return fake
}
