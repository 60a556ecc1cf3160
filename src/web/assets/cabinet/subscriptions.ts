/** The subscriptions of the account, each with a button that brings the shop to its renewal. */
import { own, type Subscription } from './account.ts'
import { showRenewal } from './buying.ts'
import { plain, signOf } from './node-names.ts'
import { byId, made, within } from './parts.ts'
import { showTraffic } from './traffic.ts'
import { day, fill, texts, timeOf } from './words.ts'

const DAY_MS = 86_400_000

/** How a subscription stands: in words, and in what colour. */
function standing({ state, expires_at, endless }: Subscription): [words: string, colour: string] {
  if (state === 'held') return [texts.held, 'pill warn']
  if (state === 'expired') return [texts.expired, 'pill']
  if (state === 'limited') return [texts.limited, 'pill bad']
  if (endless) return ['∞', 'pill ok']
  const days = Math.ceil((timeOf(expires_at) - Date.now()) / DAY_MS)
  const words = days <= 1 ? texts.lastDay : fill(texts.days, { days })
  return [words, days <= 3 ? 'pill warn' : 'pill ok']
}

function subscriptionRow(subscription: Subscription): HTMLElement {
  const { node_label: home, node_group_label: node_label = home } = subscription
  const { plan_label, expires_at, state, uuid, endless } = subscription
  const name = plain(node_label)
  const [words, colour] = standing(subscription)
  const until = fill(state === 'expired' ? texts.ended : texts.until, { date: day(expires_at) })
  const when = endless ? texts.endless : until
  const row = made('subscription-row', { name, detail: `${plan_label}, ${when}`, state: words })
  within(row, '[data-state]').className = colour
  within(row, '[data-name]').prepend(...signOf(node_label))
  showTraffic(row, subscription)
  const button = within(row, '[data-renew]')
  button.hidden = endless || !own.shop.payments_enabled || own.shop.providers.length === 0
  button.setAttribute('aria-label', fill(texts.renewLabel, { name }))
  button.addEventListener('click', () => {
    byId('renews').value = uuid
    showRenewal()
    byId('buy').scrollIntoView()
    byId('buy-title').focus({ preventScroll: true })
  })
  return row
}

export function showSubscriptions(): void {
  const { subscriptions } = own.shop
  byId('subscriptions').replaceChildren(...subscriptions.map(subscriptionRow))
  byId('no-subscriptions').hidden = subscriptions.length > 0
  const isActive = subscriptions.some(({ state }) => state === 'active' || state === 'limited')
  byId('connect').hidden = !isActive && !own.shop.guest
  byId('open-link').hidden = !isActive
  // Guests have their link in front of them before they pay.
  if (own.shop.guest) byId('subscriptions').closest('section')?.after(byId('connect'))
}
