/** Another server, or the days of another plan, for an own subscription: a dialog that says what it would be before it is done. */
import type { ChoicesAnswer, ProspectAnswer } from '#src/http/schemas/payment.ts'
import type { ChangeTexts } from '#src/web/cabinet-page.ts'
import { call, noteFault, own, type Refusal, readShop, type Subscription } from './account.ts'
import { plain } from './node-names.ts'
import { byId, made, note, within } from './parts.ts'
import { day, fill, texts, timeOf } from './words.ts'

/** Where nothing is offered nothing of this is on the page. */
const words = texts.change as ChangeTexts

const DAY_MS = 86_400_000

const daysText = (count: number): string =>
  new Intl.NumberFormat(document.documentElement.lang, {
    style: 'unit',
    unit: 'day',
    unitDisplay: 'long',
  }).format(count)

/** Whether there may be something to change to; what there is is asked for once somebody wants to know. */
function mayChange({ state, endless, start, node_group }: Subscription): boolean {
  const { dataset } = byId('cabinet')
  const hasPlans = 'plans' in dataset && own.shop.payments_enabled && !endless && !start
  const isRunning = state === 'active' || state === 'limited'
  return isRunning && (hasPlans || ('servers' in dataset && !node_group))
}

/** What can be chosen, and what is said of it once it is. */
interface Offer {
  body: { node: string } | { plan: string; days: number }
  name: string
  detail: string
  says: string
}

/** Nothing that only a later time allows. */
function offersOf(subscription: Subscription, found: ChoicesAnswer): Offer[] {
  const { plan_label: from, expires_at } = subscription
  const left = daysText(Math.ceil((timeOf(expires_at) - Date.now()) / DAY_MS))
  const nodes = found.nodes.map(({ node, label }) => ({
    body: { node },
    name: `${words.server}: ${plain(label)}`,
    detail: '',
    says: words.free,
  }))
  const plans = found.plans.map(({ plan, plan_label: to, days, expires_at: end }) => ({
    body: { plan, days },
    name: `${words.plan}: ${to}`,
    detail: daysText(days),
    says: fill(words.line, { left, from, days: daysText(days), to, date: day(end) }),
  }))
  return [...(found.nodes_from ? [] : nodes), ...(found.plans_from ? [] : plans)]
}

/** From when on what can't be changed now can be. */
function waits({ nodes, nodes_from, plans, plans_from }: ChoicesAnswer): string {
  const later = (what: string, from: string | null) => {
    const hours = from ? Math.ceil((timeOf(from) - Date.now()) / 3_600_000) : 0
    return hours > 0 ? fill(words.later, { what, hours }) : ''
  }
  return [
    nodes.length > 0 && later(words.server, nodes_from),
    plans.length > 0 && later(words.plan, plans_from),
  ]
    .filter(Boolean)
    .join(' ')
}

async function carryOut(path: string, { body }: Offer, done: () => void): Promise<void> {
  try {
    await call<ProspectAnswer>('POST', path, body)
  } catch (error) {
    const { minutes, code } = error as Refusal
    const refused = code === 'too-little-left' ? words.tooLittle : words.failed
    return noteFault('change-note', error, { wait: fill(texts.tryLater, { minutes }), refused })
  }
  note('change-note', words.done, { good: true })
  // It is done, whatever becomes of reading it anew.
  const shop = await readShop().catch(() => null)
  if (shop === null) return
  own.shop = shop
  done()
}

/** Opens the dialog for a subscription, with what there is now; `done` shows the account as it is after a change. */
async function askToChange(
  subscription: Subscription,
  name: string,
  done: () => void,
): Promise<void> {
  const dialog = byId('change')
  const path = `/subscriptions/${subscription.uuid}/change`
  note('change-note', '')
  let found: ChoicesAnswer
  try {
    found = await call<ChoicesAnswer>('GET', path)
  } catch (error) {
    return noteFault('change-note', error, { wait: texts.failed, refused: words.failed })
  }
  const offers = offersOf(subscription, found)
  let chosen: Offer | undefined
  const act = within<HTMLButtonElement>(dialog, '[value=change]')
  const choose = (offer?: Offer) => {
    chosen = offer
    act.disabled = !offer
    byId('change-text').textContent =
      offer?.says ?? (waits(found) || (offers.length > 0 ? '' : words.none))
  }
  const rows = offers.map((offer) => {
    const row = made('choice', { name: offer.name, price: offer.detail })
    const input = within<HTMLInputElement>(row, 'input')
    input.name = 'to'
    input.required = false
    input.addEventListener('change', () => choose(offer))
    return row
  })
  byId('changes').replaceChildren(...rows)
  byId('change-title').textContent = fill(words.title, { name })
  choose()
  dialog.returnValue = ''
  dialog.showModal()
  dialog.onclose = () => {
    if (dialog.returnValue === 'change' && chosen) void carryOut(path, chosen, done)
  }
}

/** The button of a subscription's row, where the page has one. */
export function showChange(
  row: HTMLElement,
  subscription: Subscription,
  name: string,
  done: () => void,
): void {
  const button = row.querySelector<HTMLElement>('[data-change]')
  if (!button) return
  button.hidden = !mayChange(subscription)
  button.setAttribute('aria-label', fill(words.title, { name }))
  button.addEventListener('click', () => void askToChange(subscription, name, done))
}
