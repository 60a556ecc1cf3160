/** What is sold to whom, for how much, and what the provider is asked for. */

import type { Query } from '#db/engine/database.ts'
import { readNode } from '#db/nodes.ts'
import { readPlan } from '#db/plans.ts'
import type { Payment, Plan, Subscription, User } from '#db/schema/index.ts'
import { readSubscription } from '#db/subscriptions.ts'
import { quotaOfPlan, type SoldQuota } from '#src/domain/quotas.ts'
import { readSettingsIn, type Settings } from '#src/domain/settings.ts'
import { chooseHome } from '#src/domain/subscriptions/homes.ts'
import { ENDLESS } from '#src/lib/time.ts'
import type { Order } from '#src/ports/payment-gateway.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { priceAt, renewsBy } from './offer.ts'
import { findGateway, listProviders, type Provider } from './providers.ts'

type Deps = Pick<Services, 'config'>

export interface PaymentRequest {
  tgId: number
  /** Of a renewal it is the subscription's. */
  node?: string | undefined
  plan: string
  provider: string
  /** The subscription to lengthen. */
  renews?: string | undefined
  source: Payment['source']
}

/** What a provider is asked for, beside what the payment's own columns say; kept in its row until the answer is stored. */
export type SaleOrder = Omit<Order, 'paymentId' | 'amount' | 'currency' | 'tgId'>

interface Sale {
  user: User
  provider: string
  node: { code: string; label: string }
  plan: { code: string; label: string; days: number }
  nodeGroup: string | null
  quota: SoldQuota
  amount: number
  currency: string
  renewsUuid: string | null
}

/** A provider that takes payments now. Throws 400. */
function requireProvider(settings: Settings, wanted: string): Provider {
  if (!settings.flag('PAYMENTS_ENABLED')) throw refusal('payments-off')
  const provider = listProviders(settings).find(({ id }) => id === wanted)
  if (!provider) throw refusal('unknown-provider')
  if (!provider.enabled || !provider.configured) throw refusal('provider-not-available')
  return provider
}

/** The user's own unrevoked subscription that is to be lengthened. Throws 400. */
function* readRenewable(tx: Query, tgId: number, uuid: string) {
  const found = yield* readSubscription(tx, uuid)
  if (found?.row.tgId !== tgId || !found.row.active) throw refusal('unknown-subscription')
  if (found.row.expiresAt === ENDLESS) throw refusal('has-no-end')
  return found.row
}

/** The home of what is sold: a renewed subscription keeps its own. Throws 400. */
function* readHome(
  tx: Query,
  request: PaymentRequest,
  renewed: Subscription | null,
  nodeGroup: string | null,
) {
  const asked = yield* readNode(tx, renewed?.node ?? request.node ?? '')
  const isChosen = nodeGroup !== null && !renewed && request.node === undefined
  if (!asked && !isChosen) throw refusal('unknown-node')
  if (asked && renewed) return asked
  const node = yield* chooseHome(tx, nodeGroup, asked)
  // Who has a subscription on a node that is sold out keeps it.
  if (!node.enabled) throw refusal('node-not-for-sale')
  return node
}

/** Throws 400 for a plan that is not sold any more, or would lengthen all servers at the price of one. */
function checkPlan(plan: Plan, renewed: Subscription | null): void {
  if (plan.archived && plan.code !== renewed?.plan) throw refusal('plan-archived')
  if (renewed && !renewsBy(plan, renewed)) throw refusal('plan-not-for-sale')
}

/** What is sold, and for how much. Throws 400 for what is not for sale. */
export function* readSale(tx: Query, s: Deps, request: PaymentRequest, user: User) {
  const settings = yield* readSettingsIn(tx, s)
  const provider = requireProvider(settings, request.provider)
  if (user.bannedAt !== null) throw refusal('nothing-sold-to-user')
  const { renews } = request
  const renewed = renews === undefined ? null : yield* readRenewable(tx, user.tgId, renews)
  const plan = yield* readPlan(tx, request.plan)
  const nodeGroup = plan?.nodeGroup ?? null
  const node = yield* readHome(tx, request, renewed, nodeGroup)
  if (!plan) throw refusal('unknown-plan')
  checkPlan(plan, renewed)
  const price = priceAt(plan, provider, s.config.currency)
  if (price.amount === 0) throw refusal('plan-not-for-sale')
  const sale: Sale = {
    user,
    provider: provider.id,
    node,
    plan,
    nodeGroup,
    quota: quotaOfPlan(plan),
    ...price,
    renewsUuid: renewed?.uuid ?? null,
  }
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

/** The order as it goes to the provider, and goes again if need be; `returnPath`: where on the site it sends the buyer back to. */
export function orderOf(s: Deps, settings: Settings, sale: Sale, returnPath: string): SaleOrder {
  const { publicScheme, domains, defaultLang } = s.config
  const site = `${publicScheme}://${domains.site}`
  const words = [settings.text('BRAND_NAME'), sale.node.label, sale.plan.label]
  return {
    description: words.join(', '),
    username: sale.user.username,
    lang: sale.user.lang ?? defaultLang,
    returnUrl: site + returnPath,
    noticeUrl: site + noticePath(settings, sale.provider),
    receipt: receiptOf(settings),
  }
}
