/** The form of the shop: what is bought or renewed, how it is paid, and what it costs. */
import type { PayLinkAnswer, ShopAnswer } from '#src/http/schemas/payment.ts'
import { call, keep, noteFault, own, type Refusal, waitText } from './account.ts'
import { plain } from './node-names.ts'
import { byId, inputsOf, made, note, within } from './parts.ts'
import { fill, priceText, texts } from './words.ts'

type Plan = ShopAnswer['plans'][number]

const chosen = () => new FormData(byId('buy-form'))
const payText = () => within(byId('pay'), 'span')

interface Choice {
  value: string
  name: string
  price?: string
}

/** Radio buttons of one name; the chosen one stays chosen while it is there. */
function fillChoices(id: 'plans' | 'providers', choices: Choice[]): void {
  const before = chosen().get(id)
  const rows = choices.map(({ value, name, price = '' }) => {
    const row = made('choice', { name, price })
    const input = within<HTMLInputElement>(row, 'input')
    input.name = id
    input.value = value
    return row
  })
  byId(id).replaceChildren(...rows)
  const inputs = inputsOf(id)
  const again = inputs.find(({ value }) => value === before) ?? inputs[0]
  if (again) again.checked = true
}

/** What a plan costs at a way to pay; empty where it is not sold there. */
function priceAt(plan: Plan, provider: unknown): string {
  if (provider === 'stars') {
    return plan.price_stars ? fill(texts.stars, { count: plan.price_stars }) : ''
  }
  return plan.price > 0 ? priceText(plan.price, plan.currency) : ''
}

/** Brings the form in line with what is chosen in it. */
export function showChoices(): void {
  const provider = chosen().get('providers')
  const plans = own.shop.plans.flatMap((plan) => {
    const price = priceAt(plan, provider)
    return price === '' ? [] : [{ value: plan.code, name: plan.label, price }]
  })
  fillChoices('plans', plans)
  byId('node-part').hidden = byId('renews').value !== '' || own.shop.nodes.length < 2
  showPrice()
}

/** The same for another subscription, beginning with the plan that it has. */
export function showRenewal(): void {
  showChoices()
  const renewed = own.shop.subscriptions.find(({ uuid }) => uuid === byId('renews').value)
  const plan = own.shop.plans.find(({ label }) => label === renewed?.plan_label)
  const input = inputsOf('plans').find(({ value }) => value === plan?.code)
  if (input) input.checked = true
  byId('renews-held').hidden = renewed?.state !== 'held'
  showPrice()
}

export function showPrice(): void {
  const order = chosen()
  const plan = own.shop.plans.find(({ code }) => code === order.get('plans'))
  const price = plan ? priceAt(plan, order.get('providers')) : ''
  payText().textContent = price ? fill(texts.payPrice, { price }) : texts.pay
  byId('pay').disabled = price === ''
}

const option = (value: string, label: string) => new Option(label, value)

export function showShop(): void {
  const { payments_enabled, providers, plans, nodes, subscriptions } = own.shop
  const open = payments_enabled && providers.length > 0 && plans.length > 0
  byId('buy-form').hidden = !open
  byId('closed').hidden = open
  byId('no-subscriptions').textContent = open ? texts.none : texts.noneClosed
  if (!open) return
  const renewable = subscriptions.map(({ uuid, node_label, plan_label }) =>
    option(uuid, fill(texts.renew, { name: `${plain(node_label)}, ${plan_label}` })),
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
  byId('node').replaceChildren(...nodes.map(({ code, label }) => option(code, plain(label))))
  fillChoices(
    'providers',
    providers.map(({ id, label }) => ({ value: id, name: label })),
  )
  byId('providers-part').hidden = providers.length < 2
  showRenewal()
  const wanted = inputsOf('plans').find(({ value }) => value === own.wanted)
  if (!wanted) return
  wanted.checked = true
  own.wanted = undefined
  showPrice()
}

/** The page's words for a refusal that a buyer can do something about. */
const refusalText = (code: string): string => texts.refusals[code] ?? texts.refused

export async function pay(): Promise<void> {
  const order = chosen()
  const renews = order.get('renews')
  byId('pay').disabled = true
  note('buy-fault', '')
  payText().textContent = texts.paying
  try {
    const { pay_url } = await call<PayLinkAnswer>('POST', '/payments', {
      plan: order.get('plans'),
      provider: order.get('providers'),
      ...(renews ? { renews } : { node: order.get('node') }),
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
