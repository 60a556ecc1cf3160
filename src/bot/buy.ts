/** Buying: server, plan, way to pay, step by step, each asked only where there is a choice. */
import type { Plan } from '#db/schema/index.ts'
import { nodeAndPlan } from '#src/domain/labels.ts'
import type { Shop } from '#src/domain/payments/offer.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import { findShownOfUser } from '#src/domain/subscriptions/subscriptions.ts'
import { formatDay, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import { findByShort, shortOf, tapData } from './callback-data.ts'
import { column, MOST_LISTED, single } from './keyboards.ts'
import { showStale, supportLines } from './menu.ts'
import { pay } from './pay.ts'
import { type BotRequest, say, show, type Work } from './request.ts'
import { plansFor, priceText, shopOf, type Target, type Way, waysToPay } from './sale.ts'

/** Says that nothing is sold, and where to ask. */
async function showClosed(v: BotRequest): Promise<void> {
  await show(v, [v.t.closed, supportLines(v)].join('\n\n').trim(), single(v.t.back, 'menu'))
}

const isOpen = (v: BotRequest, shop: Shop) => shop.open && plansFor(v, shop).length > 0

async function chooseNode(v: BotRequest, shop: Shop, plan?: Plan): Promise<void> {
  const rows = shop.nodes
    .slice(0, MOST_LISTED)
    .map(({ code, label }): [string, string] => [
      label,
      tapData('b', shortOf(code), ...(plan ? [shortOf(plan.code)] : [])),
    ])
  await show(v, v.t.chooseNode, column([...rows, [v.t.back, tapData('menu')]]))
}

async function choosePlan(v: BotRequest, shop: Shop, target: Target): Promise<void> {
  const rows = plansFor(v, shop, target).map((plan): [string, string] => {
    const [way] = waysToPay(v, shop, plan) as [Way]
    return [
      `${plan.label} · ${priceText(v, way)}`,
      tapData(target.kind, target.id, shortOf(plan.code)),
    ]
  })
  const { node, renewed } = target
  const text = renewed ? v.t.chooseRenewal(node.label, renewed.until) : v.t.choosePlan(node.label)
  const back = renewed ? tapData('s', target.id) : tapData(shop.nodes.length > 1 ? 'buy' : 'menu')
  await show(v, text, column([...rows, [v.t.back, back]]))
}

async function chooseWay(v: BotRequest, target: Target, plan: Plan, ways: Way[]): Promise<void> {
  const { kind, id, node } = target
  const rows = ways.map((way): [string, string] => [
    `${way.label} · ${priceText(v, way)}`,
    tapData(kind, id, shortOf(plan.code), way.id),
  ])
  const back: [string, string] = [v.t.back, tapData(kind, id)]
  await show(v, v.t.chooseProvider(node.label, plan.label), column([...rows, back]))
}

/** The next step towards a payment: what `plan` and `provider` leave open is asked, unless there is but one answer. */
async function proceed(v: BotRequest, target: Target, planKey?: string, provider?: string) {
  const shop = shopOf(v)
  const plans = plansFor(v, shop, target)
  if (!shop.open || plans.length === 0) return showClosed(v)
  if (planKey === undefined) return choosePlan(v, shop, target)
  const plan = findByShort(plans, planKey)
  if (!plan) return showStale(v)
  const ways = waysToPay(v, shop, plan)
  if (provider === undefined && ways.length > 1) return chooseWay(v, target, plan, ways)
  const way = provider === undefined ? ways[0] : ways.find(({ id }) => id === provider)
  return way ? pay(v, target, plan, way) : showStale(v)
}

const onNode = (node: Target['node']): Target => ({
  kind: 'b',
  id: shortOf(node.code),
  node,
  renewed: null,
})

/** Opens the shop: its servers, or the plans of the only one. */
export const openShop: Work = async (v) => {
  const shop = shopOf(v)
  const [node, ...others] = shop.nodes
  if (!node || !isOpen(v, shop)) return showClosed(v)
  return others.length > 0 ? chooseNode(v, shop) : proceed(v, onNode(node))
}

/** Opens the shop at a plan, by its code. */
export async function openSale(v: BotRequest, code: string): Promise<void> {
  const shop = shopOf(v)
  const [node, ...others] = shop.nodes
  if (!node || !isOpen(v, shop)) return showClosed(v)
  const plan = plansFor(v, shop).find((one) => one.code === code)
  if (!plan) {
    await say(v, v.t.planGone)
    return openShop(v, [])
  }
  return others.length > 0 ? chooseNode(v, shop, plan) : proceed(v, onNode(node), shortOf(code))
}

/** A button of the sale of a new subscription. */
export const buy: Work = async (v, [node, plan, provider]) => {
  const found = findByShort(shopOf(v).nodes, node)
  return found ? proceed(v, onNode(found), plan, provider) : showStale(v)
}

/** A button of a renewal. */
export const renew: Work = async (v, [id = '', plan, provider]) => {
  const found = await findShownOfUser(v.s, v.user, id, formatTimestamp(v.s.clock.now()))
  // Of a node that is gone nothing can be renewed.
  if (!found || found.nodeLabel === null) return showStale(v)
  const { node, node_label: label } = nodeAndPlan(found)
  const until = formatDay(v.s.config.timezone, parseTimestamp(found.row.expiresAt))
  const { uuid } = found.row
  const renewed = { uuid, plan: found.row.plan, until }
  const target: Target = { kind: 'r', id: ownIdOf(v.s, uuid), node: { code: node, label }, renewed }
  return proceed(v, target, plan, provider)
}

/** Opens the renewal of a subscription that a link names. */
export const openRenewal = (v: BotRequest, id: string): Promise<void> => renew(v, [id])
