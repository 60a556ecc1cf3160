/** The public face of the service: plans, how it works, servers, the way to the bot or to the account. */
import { botLink } from '#src/lib/bot-link.ts'
import { formatPrice } from '#src/lib/format.ts'
import { nodeLabel } from './flags.ts'
import { type Icon, icon } from './icons.ts'
import { page } from './layout.ts'
import { html, type Markup } from './markup.ts'
import { siteLink } from './own-link.ts'
import type { PageBase } from './page-base.ts'
import { type Strings, stringsOf } from './strings.ts'

export interface LandingPlan {
  code: string
  label: string
  days: number
  /** Whole units of the currency; plans that cost nothing are not shown. */
  price: number
  /** Whether it can be paid for now. */
  sold: boolean
  /** `100 GB a month`; null where it has no limit. */
  traffic?: string | null
  /** The group of servers that it is sold with; null for one server. */
  nodeGroup?: string | null
  /** How many devices it serves, where it says so itself and they are counted. */
  devices?: number | null
}

export interface LandingPageInput extends PageBase {
  plans: LandingPlan[]
  /** ISO 4217; any other text is shown after the number. */
  currency: string
  /** Labels of the enabled nodes. */
  nodeLabels: string[]
  botLinkBase: string
  botUsername: string
  /** Whether people buy here without a link or a bot. */
  guests: boolean
  /** How many devices one subscription serves; null while nobody counts them. */
  deviceLimit: number | null
}

/** What the parts of the page are made from. */
interface Landing {
  t: Strings
  input: LandingPageInput
  /** Those that are shown. */
  plans: LandingPlan[]
  /** Whether one of them can be paid for now. */
  selling: boolean
  bot: string | null
  account: string
}

export function landingPage(input: LandingPageInput): string {
  const t = stringsOf(input.lang)
  const plans = input.plans.filter((plan) => plan.price > 0)
  const landing: Landing = {
    t,
    input,
    plans,
    selling: plans.some(({ sold }) => sold),
    bot: botLink(input.botLinkBase, input.botUsername),
    account: siteLink(input, '/cabinet.html'),
  }
  const { bot, selling, account } = landing
  const { nodeLabels } = input
  // Of plans that say so themselves each card has its number.
  const deviceLimit = plans.some(hasOwnDevices) ? null : input.deviceLimit
  const heroText = bot && selling ? t.heroText : t.heroTextNoSale
  const first = bot ? factCard('telegram', t.facts.buy) : factCard('user', t.facts.account)
  const body = html`<section class="hero"><h1>${t.heroTitle}</h1><p>${heroText}</p>${heroButtons(landing)}${deviceLimit !== null && html`<small>${t.deviceLimit(deviceLimit)}</small>`}</section>
<section class="section" id="plans"><h2>${t.plans}</h2>${plansNote(landing)}${plansGrid(landing)}</section>
<section class="section"><h2>${t.factsTitle}</h2><div class="grid">${first}${factCard('devices', t.facts.link)}${factCard('refresh', t.facts.renew)}</div></section>
${nodeLabels.length > 0 && html`<section class="section"><h2>${t.servers}</h2><ul class="chips">${nodeLabels.map((label) => html`<li>${nodeLabel(label)}</li>`)}</ul></section>`}`
  const action = html`<a class="ghost" href="${account}">${icon('user')}<span class="t">${t.cabinet}</span></a>`
  return page({ ...input, title: '', body, description: heroText, action })
}

function heroButtons({ t, bot, account, plans }: Landing): Markup {
  const [url, name, label]: [string, Icon, string] = bot
    ? [bot, 'telegram', t.openBot]
    : [account, 'user', t.openAccount]
  const prices = plans.length > 0 && html`<a class="btn" href="#plans">${t.seePlans}</a>`
  return html`<div class="row"><a class="btn pri" href="${url}" rel="noopener">${icon(name)}${label}</a>${prices}</div>`
}

/** Where buying is not one press away: why, and whom to ask. */
function plansNote({ t, input, plans, selling, bot }: Landing): Markup | null {
  if (plans.length === 0 || ((bot || input.guests) && selling)) return null
  const ask =
    input.helpUrl !== null &&
    html` ${selling && `${t.noLinkYet} `}<a href="${input.helpUrl}" rel="noopener">${t.askSupport}</a>`
  return html`<p class="plans-note">${selling ? t.plansByLink : t.plansPaused}${ask}</p>`
}

const factCard = (name: Icon, [title, text]: string[]): Markup =>
  html`<article class="card fact"><span class="badge">${icon(name)}</span><h3>${title}</h3><p class="muted">${text}</p></article>`

const hasOwnDevices = ({ devices = null }: LandingPlan): boolean => devices !== null

/** What a plan has of traffic and for how many devices it is, where plans differ in that. */
function planLimits({ t, input, plans }: Landing, { traffic, devices }: LandingPlan): Markup[] {
  const texts = [
    plans.some((plan) => plan.traffic) && (traffic ?? t.unlimited),
    plans.some(hasOwnDevices) && t.planDevices(devices ?? input.deviceLimit ?? 0),
  ]
  return texts.filter((text) => text !== false).map((text) => html`<p class="limit">${text}</p>`)
}

const MONTH_DAYS = 30

/** What a plan saves against the dearest one per day that differs in length alone, in whole percent. */
function savingOf({ input, plans }: Landing, plan: LandingPlan): number {
  const perDay = (one: LandingPlan) => one.price / Math.max(one.days, 1)
  const given = ({ nodeGroup = null, traffic = null, devices }: LandingPlan) =>
    JSON.stringify([nodeGroup, traffic, devices ?? input.deviceLimit])
  const alike = plans.filter((one) => given(one) === given(plan))
  const most = Math.max(...alike.map(perDay))
  return Math.floor((1 - perDay(plan) / most) * 100)
}

/** Where a plan is bought, and how the button there is called; null while it is not sold. */
function planButton({ t, input, bot, account }: Landing, plan: LandingPlan, best: boolean) {
  if (!plan.sold) return null
  const inBot = bot && botLink(input.botLinkBase, input.botUsername, `buy_${plan.code}`)
  if (input.guests) {
    const here = html`<a class="${best ? 'btn pri' : 'btn'}" href="${siteLink(input, `/cabinet.html#buy=${plan.code}`)}" aria-label="${t.buyNow}: ${plan.label}">${t.buyNow}</a>`
    return inBot
      ? html`${here}<a class="ghost" href="${inBot}" rel="noopener" aria-label="${t.buyInTelegram}: ${plan.label}">${t.buyInTelegram}</a>`
      : here
  }
  const label = inBot ? t.choose : t.chooseInAccount
  return html`<a class="${best ? 'btn pri' : 'btn'}" href="${inBot ?? account}" rel="noopener" aria-label="${label}: ${plan.label}">${label}</a>`
}

function plansGrid(landing: Landing): Markup {
  const { t, input, plans } = landing
  if (plans.length === 0) return html`<p class="muted center">${t.plansEmpty}</p>`
  const savings = plans.map((plan) => savingOf(landing, plan))
  // The first that saves something is what most should look at.
  const best = savings.findIndex((saving) => saving > 0)
  const money = (price: number) => formatPrice(price, input.currency, input.lang)
  const percent = new Intl.NumberFormat(input.lang, { style: 'percent' })
  // With a minus sign where Intl has a hyphen; the order of sign, number and percent is the language's.
  const discount = (saving: number) => percent.format(-saving / 100).replace('-', '−')
  const cards = plans.map((plan, at) => {
    const saving = savings[at] as number
    const perMonth = Math.round((plan.price / Math.max(plan.days, 1)) * MONTH_DAYS)
    return html`<article class="${at === best ? 'card plan best' : 'card plan'}"><h3><bdi>${plan.label}</bdi></h3>${saving > 0 && html`<span class="pill rec">${discount(saving)}</span>`}<p class="price">${money(plan.price)}</p>${perMonth > 0 && html`<p class="muted">${t.perMonth(money(perMonth))}</p>`}${planLimits(landing, plan)}${planButton(landing, plan, at === best)}</article>`
  })
  return html`<div class="grid">${cards}</div>`
}
