/** What is offered to a customer, on the site and in the bot: servers, plans, ways to pay. */
import type { Plan, User } from '#db/schema/index.ts'
import type { Catalogue } from '#src/domain/lists/catalogue.ts'
import { listProviders, type Provider } from './providers.ts'

/** The currency of Telegram Stars, in which plans have a price of their own. */
const STARS = 'XTR'

/** The amount and currency of a plan at a provider; amount 0: it is not sold there. */
export function priceAt(
  plan: Pick<Plan, 'price' | 'priceStars'>,
  provider: Pick<Provider, 'currency'>,
  currency: string,
): { amount: number; currency: string } {
  if (provider.currency === null || provider.currency === currency) {
    return { amount: plan.price, currency }
  }
  const amount = provider.currency === STARS ? (plan.priceStars ?? 0) : 0
  return { amount, currency: provider.currency }
}

export interface Shop {
  /** Whether anything is sold to this user now. */
  open: boolean
  nodes: { code: string; label: string }[]
  plans: Plan[]
  providers: Pick<Provider, 'id' | 'label' | 'currency'>[]
}

/** What a user is offered, each list in its display order. */
export function readShop(
  { nodes, plans, settings }: Pick<Catalogue, 'nodes' | 'plans' | 'settings'>,
  user: Pick<User, 'bannedAt'>,
): Shop {
  return {
    open: settings.flag('PAYMENTS_ENABLED') && user.bannedAt === null,
    nodes: [...nodes.values()].flatMap(({ enabled, code, label }) =>
      enabled ? [{ code, label }] : [],
    ),
    plans: [...plans.values()].filter(
      (plan) => !plan.archived && (plan.price > 0 || (plan.priceStars ?? 0) > 0),
    ),
    providers: listProviders(settings).flatMap(({ id, label, currency, enabled, configured }) =>
      enabled && configured ? [{ id, label, currency }] : [],
    ),
  }
}

/** Whether a user who is offered this can pay for a plan of it now. */
export const isSold = (
  { open, providers }: Shop,
  plan: Pick<Plan, 'price' | 'priceStars'>,
  currency: string,
): boolean => open && providers.some((provider) => priceAt(plan, provider, currency).amount > 0)
