/** A shop of a few customers whose payments are counted twice: by the service, and by a model that is told what happens. */
import { expect } from 'vitest'
import { createFakeGateways, type FakeGateway } from '#test/support/fakes/gateway.ts'
import { createFileWorld } from '#test/support/worlds/file-world.ts'
import { SHOP_ENVIRONMENT } from '#test/support/worlds/shop.ts'
import { createWorld } from '#test/support/worlds/world.ts'
import { createChance } from './chance-actions.ts'
import { createModel, deleteOwner, grantPaid, type ModelPayment } from './money-model.ts'
import { addNode, addUser } from './records.ts'

const PROVIDERS = ['provider_a', 'cryptobot']
export const PLANS = { '1m': 30, '3m': 90 } as const
const ENVIRONMENT = { ...SHOP_ENVIRONMENT, GUEST_SALES: 'true', STARS_ENABLED: 'false' }
/** More than a notice of the same payment is asked about in this time. */
const NOTICE_MS = 20_000

export type MoneyWorld = Awaited<ReturnType<typeof createMoneyWorld>>

/** What a payment is before anything is known of it. */
const OPEN = {
  gave: null,
  granted: false,
  failed: false,
  refunded: false,
  taken: false,
  seconds: null,
  ownerDeleted: false,
}

/** A world with two customers and two nodes; of files where it is to be restored into. */
export async function createMoneyWorld(seed: number, restores: boolean) {
  const chance = createChance(seed)
  const { gateways, a, cryptobot } = createFakeGateways()
  const options = { gateways, environment: ENVIRONMENT }
  const w = restores ? await createFileWorld(options) : await createWorld(options)
  addNode(w, 'nl1')
  for (const tgId of [101, 102]) addUser(w, tgId)
  const own = { model: createModel() }
  /** By which links customers have bought. */
  const links = new Map<string, number>()

  const nowMs = () => w.clock.now().getTime()
  const gatewayOf = (provider: string): FakeGateway => (provider === 'cryptobot' ? cryptobot : a)
  const payments = () => w.rows('select * from payments order by seq')
  const rowOf = (id: string) => w.rows('select * from payments where id = ?', id)[0]
  const users = () => w.rows('select * from users order by tg_id')
  const post = (path: string, body: object = {}) => w.admin(`/admin/api/${path}`, { body })
  const stateOf = (row: { provider: string; external_id: string }) =>
    gatewayOf(row.provider).known.get(row.external_id)?.state

  const forgetLinks = (owner: number) => {
    for (const [token, whose] of links) if (whose === owner) links.delete(token)
  }

  /** Whether what the gateway counts as paid is to be granted without an admin. */
  const isDue = ({ granted, refunded, failed, ownerDeleted }: ModelPayment) =>
    !(granted || refunded || failed || ownerDeleted)

  /** What the service is to make of a payment about which it has asked. */
  function learn(id: string): void {
    const row = rowOf(id)
    const payment = own.model.payments.get(id)
    const state = row && stateOf(row)
    if (!payment || !state) return
    if (state.state === 'failed' && isDue(payment)) payment.failed = true
    if (state.state !== 'paid') return
    if (state.refunded) payment.refunded = true
    if (!isDue(payment) || state.amount !== `${row.amount}.00`) return
    expect([id, row.status, row.review_reason]).toEqual([id, 'paid', null])
    grantPaid(own.model, id, row.subscription_uuid, Date.parse(`${row.paid_at}Z`))
  }

  /** The same of all that have changed. */
  function learnChanged(): void {
    for (const row of payments()) {
      const payment = own.model.payments.get(row.id)
      const is = [row.status === 'paid', row.status === 'failed', row.refunded_at !== null]
      const was = [payment?.granted, payment?.failed, payment?.refunded]
      if (is.join() !== was.join()) learn(row.id)
    }
  }

  /** Takes note of customers whom the service has forgotten. */
  function learnDeleted(): void {
    const left = new Set(users().map(({ tg_id }) => tg_id))
    for (const { owner } of own.model.payments.values()) {
      if (left.has(owner)) continue
      deleteOwner(own.model, owner)
      forgetLinks(owner)
    }
  }

  /** An admin has a payment asked about; of one that is settled nothing is asked. */
  async function check(id: string): Promise<void> {
    const before = rowOf(id)
    await post(`payments/${id}/check`)
    await w.s.background.idle()
    if (before?.status === 'pending') learn(id)
  }

  /** The gateway tells of a payment, twice at once; of one that has no notices here an admin asks. */
  async function notice(id: string): Promise<void> {
    const row = rowOf(id)
    if (row?.provider !== 'provider_a') return check(id)
    w.clock.advance(NOTICE_MS)
    const object = { id: row.external_id, status: 'succeeded', metadata: { payment_id: id } }
    const body = { type: 'notification', event: 'payment.succeeded', object }
    await Promise.all([1, 2].map(() => w.call('/payments/webhook/provider_a', { body })))
    await w.s.background.idle()
    if (row.status !== 'paid') learn(id)
  }

  /** The gateway tells that money went back. */
  async function noticeRefund(row: { id: string; external_id: string; status: string }) {
    const object = { id: 'r1', payment_id: row.external_id }
    w.clock.advance(NOTICE_MS)
    await w.call('/payments/webhook/provider_a', { body: { event: 'refund.succeeded', object } })
    await w.s.background.idle()
    if (row.status === 'paid') learn(row.id)
  }

  /** Somebody orders by their link, a renewal of what they have or something new; the payment, where it is sold. */
  async function buy(user = chance.of(users())): Promise<string | undefined> {
    if (!user) return undefined
    const active = 'select uuid from subscriptions where tg_id = ? and active = 1 order by seq'
    const renews = chance.below(2) === 0 ? chance.of(w.rows(active, user.tg_id))?.uuid : undefined
    const plan = chance.of(Object.keys(PLANS))
    const order = { node: chance.of(['de1', 'nl1']), plan, provider: chance.of(PROVIDERS) }
    const body = { ...order, ...(renews ? { renews } : {}) }
    const { status, json } = await w.call(`/api/cabinet/${user.token}/payments`, { body })
    if (status !== 200) return undefined
    const row = rowOf(json.id)
    if (row && !own.model.payments.has(json.id)) {
      const { days } = row
      own.model.payments.set(json.id, { ...OPEN, owner: user.tg_id, days, renews: renews ?? null })
    }
    links.set(user.token, user.tg_id)
    return json.id
  }

  /** Pays a bill, now and then with another amount; its id where it could be paid. */
  function pay(id: string | undefined): string | undefined {
    const row = id === undefined ? undefined : rowOf(id)
    if (!row || stateOf(row)?.state !== 'pending') return undefined
    const more = chance.below(12) === 0 ? { amount: '1.00' } : {}
    gatewayOf(row.provider).pay(row.external_id, more)
    return row.id
  }

  return {
    ...{
      w,
      chance,
      own,
      links,
      gateways: [a, cryptobot],
      nowMs,
      gatewayOf,
      payments,
      rowOf,
      users,
    },
    ...{
      post,
      stateOf,
      forgetLinks,
      learnChanged,
      learnDeleted,
      check,
      notice,
      noticeRefund,
      buy,
      pay,
    },
  }
}
