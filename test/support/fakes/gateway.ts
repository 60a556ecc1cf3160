/** A payment gateway in memory, faithful to its port: it answers when it is told to, and never throws. */
import type {
  Created,
  CredentialCheck,
  Order,
  PaymentGateway,
  PaymentState,
  ShopCredentials,
  SucceededPayment,
} from '#src/ports/payment-gateway.ts'
import type { Services } from '#src/services.ts'

type Paid = Extract<PaymentState, { state: 'paid' }>

interface Known {
  order: Order
  externalId: string
  state: PaymentState
}

export interface FakeGateway extends Required<PaymentGateway> {
  /** What is said of all credentials. */
  credentials: CredentialCheck
  /** Payments by external id. */
  known: Map<string, Known>
  /** What was asked, oldest first. */
  calls: { method: 'create' | 'check' | 'list'; id: string; shop: ShopCredentials; order?: Order }[]
  /** What the next creations are answered with, in place of a link. */
  creations: Exclude<Created, { outcome: 'created' }>[]
  /** What every check is answered with while it is set. */
  answer: PaymentState | null
  /** Whether the list of succeeded payments is to be had. */
  listed: boolean
  /** For how long it wants to be left alone where it is not. */
  listRestMs: number | null
  /** When the links that it gives end. */
  expiresAt: Date | null
  /** Holds creations and checks back until the function that it gives is called. */
  hold(): () => void
  /** Has a payment paid, in full unless told otherwise. */
  pay(externalId: string, more?: Partial<Paid>): void
  fail(externalId: string): void
  externalIdOf(paymentId: string): string
}

/** `prefix`: what its external ids begin with; `lists`: it has a list of what succeeded. */
export function createFakeGateway(
  prefix: string,
  { idempotent = true, lists = false } = {},
): FakeGateway {
  const gate: { wait: Promise<void> | null } = { wait: null }
  const setState = (externalId: string, state: PaymentState) => {
    const known = fake.known.get(externalId)
    if (!known) throw new Error(`no payment ${externalId}`)
    known.state = state
  }
  const fake: FakeGateway = {
    idempotent,
    known: new Map(),
    calls: [],
    creations: [],
    credentials: { outcome: 'accepted' },
    answer: null,
    listed: true,
    listRestMs: null,
    expiresAt: null,
    hold() {
      let open = () => {}
      gate.wait = new Promise((resolve) => {
        open = resolve
      })
      return () => {
        gate.wait = null
        open()
      }
    },
    pay(externalId, more = {}) {
      const { order } = fake.known.get(externalId) ?? {}
      const amount = `${order?.amount}.00`
      setState(externalId, { state: 'paid', amount, currency: order?.currency, ...more })
    },
    fail: (externalId) => setState(externalId, { state: 'failed', reason: 'expired' }),
    externalIdOf(paymentId) {
      const found = [...fake.known.values()].find(({ order }) => order.paymentId === paymentId)
      if (!found) throw new Error(`no payment of ${paymentId}`)
      return found.externalId
    },
    async create(order, shop) {
      fake.calls.push({ method: 'create', id: order.paymentId, shop, order })
      await gate.wait
      const other = fake.creations.shift()
      if (other) return other
      const same = [...fake.known.values()].find((one) => one.order.paymentId === order.paymentId)
      const externalId = (idempotent && same?.externalId) || `${prefix}-${fake.known.size + 1}`
      if (!fake.known.has(externalId)) {
        fake.known.set(externalId, { order, externalId, state: { state: 'pending' } })
      }
      const payUrl = `https://pay.test/${externalId}`
      return { outcome: 'created', externalId, payUrl, expiresAt: fake.expiresAt }
    },
    async check({ externalId }, shop) {
      fake.calls.push({ method: 'check', id: externalId, shop })
      // As it is when the question arrives.
      const known = fake.known.get(externalId)?.state
      await gate.wait
      const unknown: PaymentState = { state: 'unknown', reason: 'not found', retryAfterMs: null }
      return fake.answer ?? known ?? unknown
    },
    verify: async () => fake.credentials,
    async listSucceeded(_since, shop) {
      fake.calls.push({ method: 'list', id: '', shop })
      if (!fake.listed) return { reason: 'no answer', retryAfterMs: fake.listRestMs }
      return [...fake.known.values()].flatMap(
        ({ order, externalId, state }): SucceededPayment[] => {
          if (state.state !== 'paid') return []
          const { amount = '', currency = '', refunded, refundedPart } = state
          const paymentId = order.paymentId || null
          return [{ externalId, paymentId, amount, currency, refunded, refundedPart }]
        },
      )
    },
  }
  if (!lists) delete (fake as Partial<FakeGateway>).listSucceeded
  return fake
}

export interface FakeGateways {
  gateways: Services['gateways']
  a: FakeGateway
  b: FakeGateway
  stars: FakeGateway
  cryptobot: FakeGateway
}

export function createFakeGateways(): FakeGateways {
  const a = createFakeGateway('yoo', { lists: true })
  const b = createFakeGateway('platega', { idempotent: false })
  const stars = createFakeGateway('stars')
  const cryptobot = createFakeGateway('crypto', { idempotent: false })
  return { gateways: { provider_a: a, provider_b: b, stars, cryptobot }, a, b, stars, cryptobot }
}
