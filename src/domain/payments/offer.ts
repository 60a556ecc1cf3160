/** What is offered to a customer, on the site and in the bot: servers, plans, ways to pay. */
import {
  isSoldNode,
  type Plan,
  type Subscription,
  type TrafficPack,
  type User,
} from '#db/schema/index.ts'
import type { Catalogue } from '#src/domain/lists/catalogue.ts'
import { soldPacks } from '#src/domain/traffic-packs.ts'
import { ENDLESS } from '#src/lib/time.ts'
import { listProviders, type Provider } from './providers.ts'

/** The currency of Telegram Stars, in which plans have a price of their own. */
const STARS = 'XTR'

export interface Price {
  amount: number
  currency: string
}

/** What a plan or a traffic pack costs at a provider; amount 0: it is not sold there. */
export function priceAt(
  goods: Pick<Plan, 'price' | 'priceStars'>,
  provider: Pick<Provider, 'currency'>,
  currency: string,
): Price {
  if (provider.currency === null || provider.currency === currency) {
    return { amount: goods.price, currency }
  }
  const amount = provider.currency === STARS ? (goods.priceStars ?? 0) : 0
  return { amount, currency: provider.currency }
}

/** What a buyer chooses first: a group of servers, or one. */
export interface Place {
  /** The node's code; of a group behind an `@`, which no node's has. */
  code: string
  label: string
  nodeGroup: string | null
  /** How many servers it is. */
  servers: number
}

export interface Shop {
  /** Whether anything is sold to this user now. */
  open: boolean
  nodes: { code: string; label: string }[]
  /** Those that a plan is sold with: groups first, then single nodes. */
  places: Place[]
  plans: Plan[]
  /** Traffic for who has a quota. */
  packs: TrafficPack[]
  providers: Pick<Provider, 'id' | 'label' | 'currency'>[]
}

/** The groups with a server that is sold. */
const groupPlaces = ({ groups, members, nodes }: Sold): Place[] =>
  [...groups.values()].flatMap(({ code, label }) => {
    const servers = (members.get(code) ?? []).filter((member) => {
      const node = nodes.get(member)
      return node && isSoldNode(node)
    }).length
    return servers > 0 ? [{ code: `@${code}`, label, nodeGroup: code, servers }] : []
  })

/** Whether a plan is sold there: one without a group on each single server. */
export const isSoldAt = (plan: Pick<Plan, 'nodeGroup'>, { nodeGroup }: Pick<Place, 'nodeGroup'>) =>
  plan.nodeGroup === nodeGroup

/** Whether more time is sold for a subscription: not while it is off, and not where it has no end. */
export const isRenewable = ({
  disabledAt,
  expiresAt,
}: Pick<Subscription, 'disabledAt' | 'expiresAt'>): boolean =>
  disabledAt === null && expiresAt !== ENDLESS

/** Whether a subscription with this plan and group may be renewed by a plan. */
export const renewsBy = (
  plan: Pick<Plan, 'code' | 'nodeGroup'>,
  own: { plan: string; nodeGroup: string | null },
): boolean => plan.code === own.plan || own.nodeGroup === null || plan.nodeGroup === own.nodeGroup

type Sold = Pick<Catalogue, 'groups' | 'members' | 'nodes'>

/** What a user is offered, each list in its display order. */
export function readShop(
  catalogue: Sold & Pick<Catalogue, 'plans' | 'packs' | 'settings'>,
  user: Pick<User, 'bannedAt'>,
): Shop {
  const { settings } = catalogue
  const nodes = [...catalogue.nodes.values()]
    .filter(isSoldNode)
    .map(({ code, label }) => ({ code, label }))
  const places = [
    ...groupPlaces(catalogue),
    ...nodes.map((node) => ({ ...node, nodeGroup: null, servers: 1 })),
  ]
  const plans = [...catalogue.plans.values()].filter(
    (plan) =>
      !plan.archived &&
      (plan.price > 0 || (plan.priceStars ?? 0) > 0) &&
      (plan.nodeGroup === null || places.some((place) => isSoldAt(plan, place))),
  )
  return {
    open: settings.flag('PAYMENTS_ENABLED') && user.bannedAt === null,
    nodes,
    places: places.filter((place) => plans.some((plan) => isSoldAt(plan, place))),
    plans,
    packs: soldPacks(catalogue.packs.values()),
    providers: listProviders(settings).flatMap(({ id, label, currency, enabled, configured }) =>
      enabled && configured ? [{ id, label, currency }] : [],
    ),
  }
}

/** Whether a user who is offered this can pay for a plan or a pack of it now. */
export const isSold = (
  { open, providers }: Shop,
  goods: Pick<Plan, 'price' | 'priceStars'>,
  currency: string,
): boolean => open && providers.some((provider) => priceAt(goods, provider, currency).amount > 0)
