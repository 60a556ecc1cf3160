/** The subscriptions of the account, each with a button that brings the shop to its renewal. */
import { own, type Subscription } from './account.ts'
import { showRenewal, showShop } from './buying.ts'
import { showChange } from './change.ts'
import { plain, signOf } from './node-names.ts'
import { byId, made, within } from './parts.ts'
import { showTraffic } from './traffic.ts'
import { day, fill, texts, timeOf } from './words.ts'

const DAY_MS = 86_400_000

/** How a subscription stands: in words, and in what colour. */
function standing({
  state,
  expires_at,
  endless,
  start_seconds: waiting,
}: Subscription): [words: string, colour: string] {
  if (state === 'disabled') return [texts.disabled, 'pill bad']
  if (state === 'held') return [texts.held, 'pill warn']
  if (state === 'expired') return [texts.expired, 'pill']
  if (state === 'limited') return [texts.limited, 'pill bad']
  if (endless) return ['∞', 'pill ok']
  const left = waiting === undefined ? timeOf(expires_at) - Date.now() : waiting * 1000
  const days = Math.ceil(left / DAY_MS)
  const words = days <= 1 ? texts.lastDay : fill(texts.days, { days })
  return [words, days <= 3 && waiting === undefined ? 'pill warn' : 'pill ok']
}

const showAgain = () => {
  showSubscriptions()
  showShop()
}

function subscriptionRow(subscription: Subscription): HTMLElement {
  const { node_label: home, node_group_label: node_label = home } = subscription
  const { plan_label, expires_at, state, uuid, endless, start } = subscription
  const name = plain(node_label)
  const [words, colour] = standing(subscription)
  const until = fill(state === 'expired' ? texts.ended : texts.until, { date: day(expires_at) })
  const when = endless ? texts.endless : start ? texts.unstarted : until
  const row = made('subscription-row', { name, detail: `${plan_label}, ${when}`, state: words })
  within(row, '[data-state]').className = colour
  within(row, '[data-name]').prepend(...signOf(node_label))
  showTraffic(row, subscription)
  const button = within(row, '[data-renew]')
  const isFixed = endless || state === 'disabled'
  button.hidden = isFixed || !own.shop.payments_enabled || own.shop.providers.length === 0
  button.setAttribute('aria-label', fill(texts.renewLabel, { name }))
  button.addEventListener('click', () => {
    byId('renews').value = uuid
    showRenewal()
    byId('buy').scrollIntoView()
    byId('buy-title').focus({ preventScroll: true })
  })
  showChange(row, subscription, name, showAgain)
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
