/** Buying: server, plan, way to pay, step by step, each asked only where there is a choice. */
import type { Plan } from '#db/schema/index.ts'
import { placeAndPlan } from '#src/domain/labels.ts'
import { isRenewable, type Place, type Shop } from '#src/domain/payments/offer.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import { findShownOfUser } from '#src/domain/subscriptions/subscriptions.ts'
import { formatDay, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import { findByShort, shortOf, tapData } from './callback-data.ts'
import { column, MOST_LISTED, single } from './keyboards.ts'
import { showStale, supportLines } from './menu.ts'
import { pay } from './pay.ts'
import { type BotRequest, say, show, type Work } from './request.ts'
import {
  placesFor,
  planInFull,
  planName,
  plansFor,
  priceText,
  shopOf,
  type Target,
  type Way,
  waysToPay,
} from './sale.ts'

/** Says that nothing is sold, and where to ask. */
async function showClosed(v: BotRequest): Promise<void> {
  await show(v, [v.t.closed, supportLines(v)].join('\n\n').trim(), single(v.t.back, 'menu'))
}

const isOpen = (v: BotRequest, shop: Shop) => shop.open && plansFor(v, shop).length > 0

async function choosePlace(v: BotRequest, places: Place[], plan?: Plan): Promise<void> {
  const rows = places
    .slice(0, MOST_LISTED)
    .map(({ code, label, nodeGroup, servers }): [string, string] => [
      nodeGroup === null ? label : `🌍 ${label} · ${servers}`,
      tapData('b', shortOf(code), ...(plan ? [shortOf(plan.code)] : [])),
    ])
  await show(v, v.t.chooseNode, column([...rows, [v.t.back, tapData('menu')]]))
}

async function choosePlan(v: BotRequest, shop: Shop, target: Target): Promise<void> {
  const rows = plansFor(v, shop, target).map((plan): [string, string] => {
    const [way] = waysToPay(v, shop, plan) as [Way]
    return [
      `${planName(v, plan)} · ${priceText(v, way)}`,
      tapData(target.kind, target.id, shortOf(plan.code)),
    ]
  })
  const { place, renewed } = target
  const text = renewed ? v.t.chooseRenewal(place.label, renewed.until) : v.t.choosePlan(place.label)
  const isOnly = placesFor(v, shop).length === 1
  const back = renewed ? tapData('s', target.id) : tapData(isOnly ? 'menu' : 'buy')
  await show(v, text, column([...rows, [v.t.back, back]]))
}

async function chooseWay(v: BotRequest, target: Target, plan: Plan, ways: Way[]): Promise<void> {
  const { kind, id, place } = target
  const rows = ways.map((way): [string, string] => [
    `${way.label} · ${priceText(v, way)}`,
    tapData(kind, id, shortOf(plan.code), way.id),
  ])
  const back: [string, string] = [v.t.back, tapData(kind, id)]
  await show(v, v.t.chooseProvider(place.label, planInFull(v, plan)), column([...rows, back]))
}

/** Makes the payment for a plan. */
function payFor(v: BotRequest, target: Target, plan: Plan, way: Way): Promise<void> {
  const { kind, id, place, renewed } = target
  const node = renewed || place.nodeGroup !== null ? undefined : place.code
  return pay(v, way, {
    wanted: { node, renews: renewed?.uuid, plan: plan.code },
    text: (price) =>
      v.t.sale({
        node: place.label,
        plan: planInFull(v, plan),
        price,
        provider: way.label,
        renewal: renewed !== null,
      }),
    back: tapData(kind, id),
  })
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
  return way ? payFor(v, target, plan, way) : showStale(v)
}

const at = (place: Place): Target => ({
  kind: 'b',
  id: shortOf(place.code),
  place,
  renewed: null,
})

/** Opens the shop: its groups and servers, or the plans of the only one. */
export const openShop: Work = async (v) => {
  const shop = shopOf(v)
  const places = placesFor(v, shop)
  const [only] = places
  if (!only || !isOpen(v, shop)) return showClosed(v)
  return places.length > 1 ? choosePlace(v, places) : proceed(v, at(only))
}

/** Opens the shop at a plan, by its code. */
export async function openSale(v: BotRequest, code: string): Promise<void> {
  const shop = shopOf(v)
  if (placesFor(v, shop).length === 0 || !isOpen(v, shop)) return showClosed(v)
  const plan = plansFor(v, shop).find((one) => one.code === code)
  if (!plan) {
    await say(v, v.t.planGone)
    return openShop(v, [])
  }
  const places = placesFor(v, shop, plan)
  const [only] = places
  return only && places.length === 1
    ? proceed(v, at(only), shortOf(code))
    : choosePlace(v, places, plan)
}

/** A button of the sale of a new subscription. */
export const buy: Work = async (v, [place, plan, provider]) => {
  const found = findByShort(shopOf(v).places, place)
  return found ? proceed(v, at(found), plan, provider) : showStale(v)
}

/** A button of a renewal. */
export const renew: Work = async (v, [id = '', plan, provider]) => {
  const found = await findShownOfUser(v.s, v.user, id, formatTimestamp(v.s.clock.now()))
  // Of a node that is gone nothing can be renewed.
  if (!found || found.nodeLabel === null || !isRenewable(found.row)) return showStale(v)
  const { node: code, node_label: label } = placeAndPlan(found)
  const { nodeGroup } = found.row
  const until = formatDay(v.s.config.timezone, parseTimestamp(found.row.expiresAt))
  const { uuid } = found.row
  const renewed = { uuid, plan: found.row.plan, until }
  const place = { code, label, nodeGroup }
  const target: Target = { kind: 'r', id: ownIdOf(v.s, uuid), place, renewed }
  return proceed(v, target, plan, provider)
}

/** Opens the renewal of a subscription that a link names. */
export const openRenewal = (v: BotRequest, id: string): Promise<void> => renew(v, [id])
