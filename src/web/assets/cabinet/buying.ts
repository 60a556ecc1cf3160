/** The form of the shop: what is bought or renewed, how it is paid, and what it costs. */
import type { PayLinkAnswer, ShopAnswer } from '#src/http/schemas/payment.ts'
import { call, keep, noteFault, own, type Refusal, type Subscription, waitText } from './account.ts'
import { plain } from './node-names.ts'
import { byId, inputsOf, made, note, within } from './parts.ts'
import { planName } from './traffic.ts'
import { fill, priceText, texts } from './words.ts'

type Plan = ShopAnswer['plans'][number]

const chosen = () => new FormData(byId('buy-form'))
const payText = () => within(byId('pay'), 'span')

interface Choice {
  value: string
  name: string
  price?: string
}

/** Radio buttons of one name; the chosen one stays chosen while it is there. What is wished for is chosen, or nothing. */
function fillChoices(id: 'plans' | 'providers', choices: Choice[], wish?: string): void {
  const before = wish ?? chosen().get(id)
  const rows = choices.map(({ value, name, price = '' }) => {
    const row = made('choice', { name, price })
    const input = within<HTMLInputElement>(row, 'input')
    input.name = id
    input.value = value
    return row
  })
  byId(id).replaceChildren(...rows)
  const inputs = inputsOf(id)
  const again =
    inputs.find(({ value }) => value === before) ?? (wish === undefined ? inputs[0] : undefined)
  if (again) again.checked = true
}

/** What a plan or a pack costs at a way to pay; empty where it is not sold there. */
function priceAt(
  { price, price_stars, currency }: Pick<Plan, 'price' | 'price_stars' | 'currency'>,
  provider: unknown,
): string {
  if (provider === 'stars') return price_stars ? fill(texts.stars, { count: price_stars }) : ''
  return price > 0 ? priceText(price, currency) : ''
}

/** A group's code stands behind an `@`, which no node's has. */
const placeOf = (group: string | undefined) => (group === undefined ? '' : `@${group}`)

/** Whether a plan is sold at a place: one without a group at each single node. */
const isSoldAt = ({ node_group }: Plan, place: string) =>
  placeOf(node_group) === (place.startsWith('@') ? place : '')

/** Whether a plan is for what is chosen: its group or any single node, or the subscription that is renewed. */
function fits(plan: Plan): boolean {
  const { shop } = own
  const renewed = renewedNow()
  if (renewed?.endless) return false
  if (!shop.places) return true
  if (renewed) {
    const { node_group, plan_label } = renewed
    return !node_group || node_group === plan.node_group || plan_label === plan.label
  }
  return isSoldAt(plan, byId('node').value)
}

const renewedNow = () => own.shop.subscriptions.find(({ uuid }) => uuid === byId('renews').value)

/** A pack's code stands behind a `+`, which no plan's has. */
const packValue = (code: string) => `+${code}`

/** Whether packs are for a subscription: it has a quota, and has not ended. */
const takesPacks = ({ quota_bytes, state }: Subscription) =>
  quota_bytes !== undefined && state !== 'expired'

/** The packs for the subscription that is chosen. */
function packsNow() {
  const renewed = renewedNow()
  return renewed && takesPacks(renewed) ? (own.shop.packs ?? []) : []
}

/** What can be bought for what is chosen: plans, then traffic. */
const goodsNow = () => [
  ...own.shop.plans.flatMap((plan) =>
    fits(plan) ? [{ value: plan.code, name: planName(plan), priced: plan }] : [],
  ),
  ...packsNow().map((pack) => ({
    value: packValue(pack.code),
    name: fill(texts.pack, { name: pack.label }),
    priced: pack,
  })),
]

/** Brings the form in line with what is chosen in it. */
export function showChoices(): void {
  const provider = chosen().get('providers')
  const goods = goodsNow().flatMap(({ value, name, priced }) => {
    const price = priceAt(priced, provider)
    return price === '' ? [] : [{ value, name, price }]
  })
  fillChoices('plans', goods, own.wanted)
  byId('node-part').hidden = byId('renews').value !== '' || byId('node').options.length < 2
  showPrice()
}

/** The same for another subscription, beginning with the plan that it has, unless they came to buy one. */
export function showRenewal(): void {
  showChoices()
  const renewed = renewedNow()
  const plan = own.shop.plans.find(({ label }) => label === renewed?.plan_label)
  const input = inputsOf('plans').find(({ value }) => value === plan?.code)
  if (input && own.wanted === undefined) input.checked = true
  byId('renews-held').hidden = renewed?.state !== 'held'
  showPrice()
}

function showPrice(): void {
  const order = chosen()
  const goods = goodsNow().find(({ value }) => value === order.get('plans'))
  const price = goods ? priceAt(goods.priced, order.get('providers')) : ''
  payText().textContent = price ? fill(texts.payPrice, { price }) : texts.pay
  byId('pay').disabled = price === ''
}

/** A plan is chosen: the one that they came to buy, or another. */
export function showPlan(): void {
  own.wanted = undefined
  note('buy-fault', '')
  showPrice()
}

/** Brings the form to where they get the plan that they came to buy: what is renewed if that takes it, else the first place that sells it, and a way to pay for it. */
function seekWanted(): void {
  const { nodes, plans } = own.shop
  const plan = plans.find(({ code }) => code === own.wanted)
  if (!plan) return
  const places = [...byId('node').options]
  const place = places.find(({ value }) => isSoldAt(plan, value))
  if (place && !isSoldAt(plan, byId('node').value)) place.selected = true
  if (!fits(plan) && nodes.length > 0) byId('renews').value = ''
  const ways = inputsOf('providers').filter(({ value }) => priceAt(plan, value) !== '')
  if (ways[0] && !ways.some(({ checked }) => checked)) ways[0].checked = true
}

const option = (value: string, label: string) => new Option(label, value)

export function showShop(): void {
  const { payments_enabled, providers, plans, packs, nodes, places } = own.shop
  // What has no end is not renewed; more traffic it may have.
  const subscriptions = own.shop.subscriptions.filter(
    (one) => one.state !== 'disabled' && (!one.endless || (packs !== undefined && takesPacks(one))),
  )
  const open = payments_enabled && providers.length > 0 && (plans.length > 0 || packs !== undefined)
  byId('buy-form').hidden = !open
  byId('closed').hidden = open
  byId('no-subscriptions').textContent = open ? texts.none : texts.noneClosed
  if (!open) return
  const renewable = subscriptions.map(
    ({ uuid, node_label, node_group_label = node_label, plan_label }) =>
      option(uuid, fill(texts.renew, { name: `${plain(node_group_label)}, ${plan_label}` })),
  )
  const before = byId('renews').value
  byId('renews').replaceChildren(
    ...renewable,
    ...(nodes.length > 0 ? [option('', texts.fresh)] : []),
  )
  // What is paused waits for support, not for money.
  const due = subscriptions.find(({ state }) => state !== 'held') ?? subscriptions[0]
  const known = subscriptions.find(({ uuid }) => uuid === before) ?? due
  if (known) byId('renews').value = known.uuid
  byId('renews-part').hidden = renewable.length === 0
  const offered =
    places?.map((place) =>
      'node' in place
        ? option(place.node, plain(place.label))
        : option(placeOf(place.node_group), `🌍 ${plain(place.label)} · ${place.servers}`),
    ) ?? nodes.map(({ code, label }) => option(code, plain(label)))
  const again = offered.find(({ value }) => value === byId('node').value)
  byId('node').replaceChildren(...offered)
  if (again) again.selected = true
  fillChoices(
    'providers',
    providers.map(({ id, label }) => ({ value: id, name: label })),
  )
  byId('providers-part').hidden = providers.length < 2
  seekWanted()
  showRenewal()
  const isMissing = own.wanted !== undefined && chosen().get('plans') === null
  if (isMissing) note('buy-fault', refusalText('plan-not-for-sale'))
}

/** The page's words for a refusal that a buyer can do something about. */
const refusalText = (code: string): string => texts.refusals[code] ?? texts.refused

/** The node of an order; the home of a group's is not chosen. */
const nodeOf = (order: FormData) =>
  `${order.get('node')}`.startsWith('@') ? {} : { node: order.get('node') }

/** What an order is for: a pack of traffic, or a plan. */
function wantedOf(order: FormData) {
  const [wanted, renews] = [`${order.get('plans')}`, order.get('renews')]
  if (wanted.startsWith('+')) return { kind: 'traffic', pack: wanted.slice(1), renews }
  return { plan: wanted, ...(renews ? { renews } : nodeOf(order)) }
}

export async function pay(): Promise<void> {
  const order = chosen()
  byId('pay').disabled = true
  note('buy-fault', '')
  payText().textContent = texts.paying
  try {
    const { pay_url } = await call<PayLinkAnswer>('POST', '/payments', {
      ...wantedOf(order),
      provider: order.get('providers'),
    })
    if (!/^https?:\/\//.test(pay_url)) throw new Error('no address')
    keep(own.token)
    location.assign(pay_url)
  } catch (error) {
    const refused = error as Refusal
    noteFault('buy-fault', error, { wait: waitText(refused), refused: refusalText(refused.code) })
    showPrice()
  }
}
