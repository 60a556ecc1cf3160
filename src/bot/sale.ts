/** What is bought in the bot, by which plans and ways to pay: what is sold at that moment, not what was shown before. */
import type { Plan } from '#db/schema/index.ts'
import { priceAt, readShop, type Shop } from '#src/domain/payments/offer.ts'
import { formatPrice } from '#src/lib/format.ts'
import { MOST_LISTED } from './keyboards.ts'
import type { BotRequest } from './request.ts'

/** What is bought: a new subscription on a server, or more time for one. */
export interface Target {
  kind: 'b' | 'r'
  /** What stands for it in a button. */
  id: string
  node: { code: string; label: string }
  /** Of a renewal. */
  renewed: { uuid: string; plan: string; until: string } | null
}

/** A way to pay for a plan. */
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

/** The ways by which a plan can be paid. */
export function waysToPay(v: BotRequest, shop: Shop, plan: Plan): Way[] {
  return shop.providers.flatMap((provider) => {
    const price = priceAt(plan, provider, v.s.config.currency)
    const { id, label } = provider
    return price.amount > 0 ? [{ id, label, ...price }] : []
  })
}

/** The plans that this user can pay for; of a renewal also its own one, when it is sold no more to others. */
export function plansFor(v: BotRequest, shop: Shop, target?: Target): Plan[] {
  const own = target?.renewed && v.memory.catalogue().plans.get(target.renewed.plan)
  const plans = own?.archived ? [...shop.plans, own] : shop.plans
  return plans.filter((plan) => waysToPay(v, shop, plan).length > 0).slice(0, MOST_LISTED)
}
