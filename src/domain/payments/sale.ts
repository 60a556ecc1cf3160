/** What is sold to whom, for how much, and what the provider is asked for. */

import type { Query } from '#db/engine/database.ts'
import { readGroupsOfNode, readNodeGroup } from '#db/node-groups.ts'
import { readNode } from '#db/nodes.ts'
import type { SameOrder } from '#db/payments.ts'
import { readPlan } from '#db/plans.ts'
import {
  isSoldNode,
  type Payment,
  type Plan,
  type Subscription,
  type User,
} from '#db/schema/index.ts'
import { readSubscription } from '#db/subscriptions.ts'
import { readPack } from '#db/traffic-packs.ts'
import { placeAndPlan } from '#src/domain/labels.ts'
import { NO_LIMIT, quotaOfPlan } from '#src/domain/quotas.ts'
import { readSettingsIn, type Settings } from '#src/domain/settings.ts'
import { chooseHome } from '#src/domain/subscriptions/homes.ts'
import { subscriptionState } from '#src/domain/subscriptions/subscriptions.ts'
import { GB } from '#src/lib/sizes.ts'
import { ENDLESS } from '#src/lib/time.ts'
import type { Order } from '#src/ports/payment-gateway.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { type Price, priceAt, renewsBy } from './offer.ts'
import { findGateway, listProviders, type Provider } from './providers.ts'

type Deps = Pick<Services, 'config'>

/** A subscription, or more time for one. */
interface AccessRequest {
  kind?: 'access' | undefined
  /** Of a renewal it is the subscription's. */
  node?: string | undefined
  plan: string
  /** The subscription to lengthen. */
  renews?: string | undefined
}

/** More traffic for a subscription. */
interface TrafficRequest {
  kind: 'traffic'
  pack: string
  renews: string
}

/** What is bought. */
export type Wanted = AccessRequest | TrafficRequest

export type PaymentRequest = Wanted & {
  tgId: number
  provider: string
  source: Payment['source']
}

/** What a provider is asked for, beside what the payment's own columns say; kept in its row until the answer is stored. */
export type SaleOrder = Omit<Order, 'paymentId' | 'amount' | 'currency' | 'tgId'>

/** What a payment is for, as it is kept with it. */
type Goods = Omit<SameOrder, 'tgId' | 'provider' | 'amount' | 'currency' | 'shopId'>

interface Sale {
  user: User
  provider: string
  goods: Goods
  /** What is bought where, in words. */
  labels: [place: string, what: string]
  amount: number
  currency: string
}

/** A provider that takes payments now. Throws 400. */
function requireProvider(settings: Settings, wanted: string): Provider {
  if (!settings.flag('PAYMENTS_ENABLED')) throw refusal('payments-off')
  const provider = listProviders(settings).find(({ id }) => id === wanted)
  if (!provider) throw refusal('unknown-provider')
  if (!provider.enabled || !provider.configured) throw refusal('provider-not-available')
  return provider
}

/** The user's own unrevoked subscription that is to be lengthened, or to have more traffic. Throws 400. */
function* readRenewable(tx: Query, tgId: number, uuid: string) {
  const found = yield* readSubscription(tx, uuid)
  if (found?.row.tgId !== tgId || !found.row.active) throw refusal('unknown-subscription')
  if (found.row.disabledAt !== null) throw refusal('subscription-disabled')
  return found
}

/**
 * The home of what is sold: a renewed subscription keeps its own. What a buyer names beside a group is one of its members: any other server
 * would be theirs at the price of the group. Throws 400.
 */
function* readHome(
  tx: Query,
  request: AccessRequest & Pick<PaymentRequest, 'source'>,
  renewed: Subscription | null,
  nodeGroup: string | null,
) {
  const asked = yield* readNode(tx, renewed?.node ?? request.node ?? '')
  const isChosen = nodeGroup !== null && !renewed && request.node === undefined
  if (!asked && !isChosen) throw refusal('unknown-node')
  if (asked && renewed) return asked
  const node = yield* chooseHome(tx, nodeGroup, asked)
  // Who has a subscription on a node that is sold out keeps it.
  if (!isSoldNode(node)) throw refusal('node-not-for-sale')
  if (nodeGroup === null || request.source === 'admin') return node
  if (!(yield* readGroupsOfNode(tx, node.code)).includes(nodeGroup)) {
    throw refusal('node-not-for-sale')
  }
  return node
}

/** Throws 400 for a plan that is not sold any more, or would lengthen all servers at the price of one. */
function checkPlan(plan: Plan, renewed: Subscription | null): void {
  if (plan.archived && plan.code !== renewed?.plan) throw refusal('plan-archived')
  if (renewed && !renewsBy(plan, renewed)) throw refusal('plan-not-for-sale')
}

type Priced = Pick<Sale, 'goods' | 'labels'> & { price: Price }

/** What a price is reckoned by: who is asked for the money, and the moment. */
interface Terms {
  provider: Provider
  currency: string
  now: string
}

/** Access as it is sold. Throws 400 for what is not for sale. */
function* readAccess(
  tx: Query,
  request: Parameters<typeof readHome>[1],
  tgId: number,
  terms: Terms,
) {
  const { renews } = request
  const renewed = renews === undefined ? null : (yield* readRenewable(tx, tgId, renews)).row
  if (renewed?.expiresAt === ENDLESS) throw refusal('has-no-end')
  const plan = yield* readPlan(tx, request.plan)
  const nodeGroup = plan?.nodeGroup ?? null
  const node = yield* readHome(tx, request, renewed, nodeGroup)
  if (!plan) throw refusal('unknown-plan')
  checkPlan(plan, renewed)
  const price = priceAt(plan, terms.provider, terms.currency)
  if (price.amount === 0) throw refusal('plan-not-for-sale')
  const goods: Goods = {
    kind: 'access',
    node: node.code,
    plan: plan.code,
    nodeGroup,
    ...quotaOfPlan(plan),
    days: plan.days,
    renewsUuid: renewed?.uuid ?? null,
    pack: null,
    extraBytes: null,
  }
  const given = renewed?.nodeGroup ?? nodeGroup
  const group = given === null ? undefined : yield* readNodeGroup(tx, given)
  return { goods, labels: [group?.label ?? node.label, plan.label], price } as Priced
}

/** A traffic pack as it is sold, to a subscription with a quota that has not ended. Throws 400. */
function* readTraffic(tx: Query, request: TrafficRequest, tgId: number, terms: Terms) {
  const renewed = yield* readRenewable(tx, tgId, request.renews)
  const { row } = renewed
  if (row.quotaBytes === null) throw refusal('no-quota')
  if (subscriptionState(row, terms.now) === 'expired') throw refusal('subscription-expired')
  const pack = yield* readPack(tx, request.pack)
  if (!pack) throw refusal('unknown-pack')
  if (pack.archived) throw refusal('pack-archived')
  const price = priceAt(pack, terms.provider, terms.currency)
  if (price.amount === 0) throw refusal('pack-not-for-sale')
  const goods: Goods = {
    kind: 'traffic',
    node: row.node,
    plan: row.plan,
    nodeGroup: null,
    ...NO_LIMIT,
    days: 0,
    renewsUuid: row.uuid,
    pack: pack.code,
    extraBytes: pack.gb * GB,
  }
  return { goods, labels: [placeAndPlan(renewed).node_label, pack.label], price } as Priced
}

/** What is sold, and for how much. Throws 400 for what is not for sale. */
export function* readSale(tx: Query, s: Deps, request: PaymentRequest, user: User, now: string) {
  const settings = yield* readSettingsIn(tx, s)
  const provider = requireProvider(settings, request.provider)
  if (user.bannedAt !== null) throw refusal('nothing-sold-to-user')
  const terms = { provider, currency: s.config.currency, now }
  const { goods, labels, price } =
    request.kind === 'traffic'
      ? yield* readTraffic(tx, request, user.tgId, terms)
      : yield* readAccess(tx, request, user.tgId, terms)
  const sale: Sale = { user, provider: provider.id, goods, labels, ...price }
  return { settings, sale }
}

/** What a receipt says, where receipts are sent and an address for them is set. */
function receiptOf(settings: Settings): SaleOrder['receipt'] {
  const email = settings.text('RECEIPT_EMAIL') || settings.text('SUPPORT_EMAIL')
  if (settings.text('RECEIPT_MODE') === 'off' || email === '') return undefined
  return { email, vatCode: settings.int('VAT_CODE') }
}

/** The route that takes a provider's notices. */
function noticePath(settings: Settings, provider: string): string {
  const gateway = findGateway(settings, provider)
  return `/payments/webhook/${gateway?.noticeName?.(gateway.shop(settings.ofGateway)) ?? provider}`
}

/** What is bought, as a buyer reads it at the provider: of a pack that it is traffic, whatever it is called. */
function wordsOf({ goods, labels: [place, what] }: Sale, lang: string): string[] {
  if (goods.kind === 'access') return [place, what]
  return [place, `${lang === 'ru' ? 'трафик' : 'traffic'}: ${what}`]
}

/** The order as it goes to the provider, and goes again if need be; `returnPath`: where on the site it sends the buyer back to. */
export function orderOf(s: Deps, settings: Settings, sale: Sale, returnPath: string): SaleOrder {
  const { publicScheme, domains, defaultLang } = s.config
  const site = `${publicScheme}://${domains.site}`
  const lang = sale.user.lang ?? defaultLang
  const words = [settings.text('BRAND_NAME'), ...wordsOf(sale, lang)]
  return {
    description: words.join(', '),
    username: sale.user.username,
    lang,
    returnUrl: site + returnPath,
    noticeUrl: site + noticePath(settings, sale.provider),
    receipt: receiptOf(settings),
  }
}
