/** What is bought in the bot, by which plans and ways to pay: what is sold at that moment, not what was shown before. */
import type { Plan } from '#db/schema/index.ts'
import {
  isSoldAt,
  type Place,
  priceAt,
  readShop,
  renewsBy,
  type Shop,
} from '#src/domain/payments/offer.ts'
import { quotaOfPlan } from '#src/domain/quotas.ts'
import { formatPrice } from '#src/lib/format.ts'
import { stringsOf } from '#src/web/strings.ts'
import { withTraffic } from '#src/web/traffic.ts'
import { MOST_LISTED } from './keyboards.ts'
import type { BotRequest } from './request.ts'

/** What is bought: a new subscription on a server or a group of them, or more time for one. */
export interface Target {
  kind: 'b' | 'r'
  /** What stands for it in a button. */
  id: string
  place: Pick<Place, 'code' | 'label' | 'nodeGroup'>
  /** Of a renewal. */
  renewed: { uuid: string; plan: string; until: string } | null
}

/** A way to pay for a plan or a traffic pack. */
export interface Way {
  id: Shop['providers'][number]['id']
  label: string
  amount: number
  currency: string
}

export const shopOf = (v: BotRequest): Shop => readShop(v.memory.catalogue(), v.user)

/** `199 ₽`, `100 ⭐` */
export const priceText = (v: BotRequest, { amount, currency }: Pick<Way, 'amount' | 'currency'>) =>
  currency === 'XTR' ? `${amount} ⭐` : formatPrice(amount, currency, v.lang)

/** `30 days · 100 GB a month` */
export const planName = (v: BotRequest, plan: Plan): string =>
  withTraffic(v.lang, plan.label, quotaOfPlan(plan))

/** `30 days · 100 GB a month · up to 5 devices`, where devices are counted. */
export function planInFull(v: BotRequest, plan: Plan): string {
  const isCounted = v.memory.catalogue().settings.flag('HWID_LIMIT_ENABLED')
  const most = isCounted ? plan.hwidLimit : null
  return most === null
    ? planName(v, plan)
    : `${planName(v, plan)} · ${stringsOf(v.lang).planDevices(most)}`
}

/** The ways by which a plan or a traffic pack can be paid. */
export function waysToPay(
  v: BotRequest,
  shop: Shop,
  goods: Pick<Plan, 'price' | 'priceStars'>,
): Way[] {
  return shop.providers.flatMap((provider) => {
    const price = priceAt(goods, provider, v.s.config.currency)
    const { id, label } = provider
    return price.amount > 0 ? [{ id, label, ...price }] : []
  })
}

/** The plans by which a subscription can be renewed: also its own one, when it is sold no more to others. */
function renewalPlans(v: BotRequest, shop: Shop, target: Target, plan: string): Plan[] {
  const own = v.memory.catalogue().plans.get(plan)
  const { nodeGroup } = target.place
  const plans = shop.plans.filter((one) => renewsBy(one, { plan, nodeGroup }))
  return own?.archived ? [...plans, own] : plans
}

/** The plans that this user can pay for, of a target those for it. */
export function plansFor(v: BotRequest, shop: Shop, target?: Target): Plan[] {
  const plans =
    target === undefined
      ? shop.plans
      : target.renewed
        ? renewalPlans(v, shop, target, target.renewed.plan)
        : shop.plans.filter((plan) => isSoldAt(plan, target.place))
  return plans.filter((plan) => waysToPay(v, shop, plan).length > 0).slice(0, MOST_LISTED)
}

/** The places where this user can buy, of a plan those where that is sold. */
export const placesFor = (v: BotRequest, shop: Shop, plan?: Plan): Place[] =>
  shop.places.filter((place) =>
    plan
      ? isSoldAt(plan, place)
      : shop.plans.some((one) => isSoldAt(one, place) && waysToPay(v, shop, one).length > 0),
  )
