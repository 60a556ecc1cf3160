/** The gateways that provider B can be, as their documents have them. Payments are driven by the test. */
import { createHmac } from 'node:crypto'
import { type Asked, type FakeSystem, type Reply, startFakeSystem } from './system.ts'

export type FakePresetId = 'platega' | 'cispay' | 'generic'

export interface FakeOrder {
  id: string
  /** Ours. */
  paymentId: string
  /** In the gateway's own units. */
  amount: number | string
  currency: string
  /** In the gateway's own words. */
  status: string
  // biome-ignore lint/suspicious/noExplicitAny: the body of the creation
  order: any
}

export interface FakeProviderB extends FakeSystem {
  preset: FakePresetId
  merchantId: string
  secret: string
  orders: Map<string, FakeOrder>
  /** What a creation is answered with instead. */
  refusal: Reply | null
  /** Methods of payment that the shop may not use. */
  closedMethods: string[]
  set(id: string, status: string, changes?: Partial<FakeOrder>): FakeOrder
  /** The gateway's own word for a payment that was paid. */
  pay(id: string): FakeOrder
  /** The notice of a payment's state, with the headers that say who sends it. */
  notice(id: string, changes?: object): { headers: Record<string, string>; body: string }
  /** Sends it; gives the status of the answer. */
  notify(url: string, id: string, changes?: object): Promise<number>
}

interface Preset {
  paidStatus: string
  isKnown(fake: FakeProviderB, headers: Asked['headers']): boolean
  creationPath: string
  /** A new order, or why there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a request's body
  create(fake: FakeProviderB, body: any): FakeOrder | Reply
  created(order: FakeOrder): object
  /** The order that a read asks about. */
  find(fake: FakeProviderB, url: URL): FakeOrder | undefined
  state(order: FakeOrder): object
  notice(order: FakeOrder): object
  sign(fake: FakeProviderB, body: string): Record<string, string>
}

const fault = (status: number, json: object): Reply => ({ status, json })
const hmac = ({ secret }: FakeProviderB, body: string) =>
  createHmac('sha256', secret).update(body).digest()

const platega: Preset = {
  paidStatus: 'CONFIRMED',
  isKnown: (fake, headers) =>
    headers['x-merchantid'] === fake.merchantId && headers['x-secret'] === fake.secret,
  creationPath: '/v2/transaction/process',
  create(_fake, body) {
    const { amount, currency } = body.paymentDetails ?? {}
    const required = [body.description, body.return, body.failedUrl, currency]
    const isMetadata = body.metadata?.userId && body.metadata.userName
    if ('id' in body || typeof amount !== 'number' || !required.every(Boolean) || !isMetadata) {
      return fault(400, { message: 'Validation failed' })
    }
    const id = crypto.randomUUID()
    return { id, paymentId: body.payload, amount, currency, status: 'PENDING', order: body }
  },
  created: ({ id, status }) => ({
    transactionId: id,
    status,
    url: `https://pay.platega.io/?id=${id}&mh=0a0000a4-0000-0000-0000-200004060000`,
    expiresIn: '00:15:00',
    rate: 91.2,
  }),
  find: (fake, { pathname }) =>
    fake.orders.get(/^\/transaction\/([^/]+)$/.exec(pathname)?.[1] ?? ''),
  state: ({ id, status, amount, currency, paymentId, order }) => ({
    id,
    status,
    paymentDetails: { amount, currency },
    merchantName: 'Demo Merchant',
    mechantId: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
    comission: 0,
    paymentMethod: 'SBPQR',
    expiresIn: '00:15:00',
    return: order.return,
    comissionUsdt: 1.64,
    amountUsdt: 10.9,
    qr: 'base64-qr-data-or-url',
    payformSuccessUrl: 'https://pay.platega.io/success',
    payload: paymentId,
    comissionType: 1,
    externalId: '0000a4f3-0000-0000-b8ac-fcb675a0000a',
    description: order.description,
  }),
  notice: ({ id, amount, currency, status }) => ({
    id,
    amount,
    currency,
    status,
    paymentMethod: 2,
  }),
  sign: ({ merchantId, secret }) => ({ 'x-merchantid': merchantId, 'x-secret': secret }),
}

const cispay: Preset = {
  paidStatus: 'PAID',
  isKnown: (fake, headers) =>
    headers['x-shop-id'] === fake.merchantId && headers['x-api-key'] === fake.secret,
  creationPath: '/payments',
  create(fake, body) {
    const { amount, currency, order_id: paymentId, payment_method: method } = body
    if (!Number.isSafeInteger(amount) || !paymentId || !['SBP', 'CARD'].includes(method)) {
      return fault(422, { detail: [{ msg: 'field required' }] })
    }
    if (fake.closedMethods.includes(method)) {
      return fault(400, { detail: 'Payment method is not available' })
    }
    if (method === 'SBP' && !body.customer_id)
      return fault(400, { detail: 'customer_id is required' })
    const id = crypto.randomUUID()
    return { id, paymentId, amount, currency, status: 'PENDING', order: body }
  },
  created: ({ id, status, amount }) => ({
    id,
    status,
    payment_url: `https://pay.cispay.app/${id}`,
    charged_amount: Math.round(Number(amount) * 1.05),
  }),
  find: (fake, { pathname, searchParams }) =>
    pathname === '/payments/status'
      ? [...fake.orders.values()].find(
          ({ id, paymentId }) =>
            id === searchParams.get('id') || paymentId === searchParams.get('order_id'),
        )
      : undefined,
  state: ({ id, paymentId, status, amount, currency, order }) => ({
    id,
    order_id: paymentId,
    payment_method: order.payment_method,
    status,
    amount,
    currency,
    charged_amount: Math.round(Number(amount) * 1.05),
  }),
  notice: (order) => ({
    ...cispay.state(order),
    store_id: '9a7f1f5e-0000-4000-8000-000000000001',
    merchant_revenue: Math.round(Number(order.amount) * 0.95),
    paid_at: '2026-03-01T12:01:24Z',
    timestamp: '2026-03-01T12:01:25Z',
  }),
  sign: (fake, body) => ({ 'x-signature': hmac(fake, body).toString('hex') }),
}

const generic: Preset = {
  paidStatus: 'paid',
  isKnown: (fake, headers) =>
    headers.authorization === `Bearer ${fake.secret}` &&
    headers['x-merchant-id'] === fake.merchantId,
  creationPath: '/payments',
  create(fake, body) {
    const { amount, currency, order_id: paymentId } = body
    if (!/^\d+\.\d{2}$/.test(amount) || !paymentId || !body.return_url || !body.webhook_url) {
      return fault(400, { error: 'a field is missing' })
    }
    const id = `gw-${fake.orders.size + 1}`
    return { id, paymentId, amount, currency, status: 'pending', order: body }
  },
  created: ({ id }) => ({ id, payment_url: `https://gateway.test/pay/${id}` }),
  find: (fake, { pathname }) => fake.orders.get(/^\/payments\/([^/]+)$/.exec(pathname)?.[1] ?? ''),
  state: ({ id, status, amount, currency }) => ({ id, status, amount, currency }),
  notice: (order) => generic.state(order),
  sign: (fake, body) => ({ signature: hmac(fake, body).toString('base64') }),
}

const PRESETS = { platega, cispay, generic }

const isReply = (made: FakeOrder | Reply): made is Reply => typeof made.status === 'number'

export async function startFakeProviderB(
  preset: FakePresetId,
  shop: { merchantId: string; secret: string },
): Promise<FakeProviderB> {
  const own = PRESETS[preset]
  const system = await startFakeSystem(({ method, path, headers, body }) => {
    if (!own.isKnown(fake, headers)) return fault(401, { message: 'Unauthorized' })
    const url = new URL(path, 'http://api.test')
    if (method === 'GET') {
      const order = own.find(fake, url)
      return order ? { status: 200, json: own.state(order) } : fault(404, { message: 'Not found' })
    }
    if (url.pathname !== own.creationPath) return fault(404, { message: 'Not found' })
    const made = fake.refusal ?? own.create(fake, JSON.parse(body))
    if (isReply(made)) return made
    fake.orders.set(made.id, made)
    return { status: 200, json: own.created(made) }
  })
  const get = (id: string) => {
    const order = fake.orders.get(id)
    if (!order) throw new Error(`no order ${id}`)
    return order
  }
  const { reset } = system
  const fake: FakeProviderB = Object.assign(system, {
    preset,
    ...shop,
    orders: new Map<string, FakeOrder>(),
    refusal: null,
    closedMethods: [],
    reset() {
      reset()
      fake.orders.clear()
      fake.refusal = null
      fake.closedMethods = []
    },
    set: (id: string, status: string, changes: Partial<FakeOrder> = {}) =>
      Object.assign(get(id), changes, { status }),
    pay: (id: string) => fake.set(id, own.paidStatus),
    notice(id: string, changes: object = {}) {
      const body = JSON.stringify({ ...own.notice(get(id)), ...changes })
      return { headers: { 'content-type': 'application/json', ...own.sign(fake, body) }, body }
    },
    async notify(url: string, id: string, changes: object = {}) {
      const answer = await fetch(url, { method: 'POST', ...fake.notice(id, changes) })
      await answer.body?.cancel()
      return answer.status
    },
  })
  return fake
}
