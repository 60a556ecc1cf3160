/** The public face of the service: plans, how it works, servers, the way to the bot. */
import { botLink } from '#src/lib/bot-link.ts'
import { formatPrice } from '#src/lib/format.ts'
import { nodeLabel } from './flags.ts'
import { type Icon, icon } from './icons.ts'
import { type PageBase, page } from './layout.ts'
import { html, type Markup } from './markup.ts'
import { type Strings, stringsOf } from './strings.ts'

export interface LandingPlan {
  code: string
  label: string
  days: number
  /** Whole units of the currency; plans that cost nothing are not shown. */
  price: number
}

export interface LandingPageInput extends PageBase {
  plans: LandingPlan[]
  /** ISO 4217; any other text is shown after the number. */
  currency: string
  /** Labels of the enabled nodes. */
  nodeLabels: string[]
  botLinkBase: string
  botUsername: string
  /** How many devices one subscription serves; null while nobody counts them. */
  deviceLimit: number | null
}

export function landingPage(input: LandingPageInput): string {
  const t = stringsOf(input.lang)
  const bot = botLink(input.botLinkBase, input.botUsername)
  const { deviceLimit, nodeLabels } = input
  const body = html`<section class="hero"><h1>${t.heroTitle}</h1><p>${t.heroText}</p>${heroButtons(t, bot)}${deviceLimit !== null && html`<small>${t.deviceLimit(deviceLimit)}</small>`}</section>
<section class="section" id="plans"><h2>${t.plans}</h2>${plansGrid(t, input)}</section>
<section class="section"><h2>${t.factsTitle}</h2><div class="grid">${factCard('telegram', t.facts.buy)}${factCard('devices', t.facts.link)}${factCard('refresh', t.facts.renew)}</div></section>
${nodeLabels.length > 0 && html`<section class="section"><h2>${t.servers}</h2><ul class="chips">${nodeLabels.map((label) => html`<li>${nodeLabel(label)}</li>`)}</ul></section>`}`
  const account = html`<a class="ghost" href="${input.siteUrl}/cabinet.html">${icon('user')}<span class="t">${t.cabinet}</span></a>`
  return page({ ...input, title: '', body, description: t.heroText, action: account })
}

function heroButtons(t: Strings, bot: string | null): Markup {
  const open = bot
    ? html`<a class="btn pri" href="${bot}" rel="noopener">${icon('telegram')}${t.openBot}</a>`
    : html`<p>${t.askBot}</p>`
  return html`<div class="row">${open}<a class="btn" href="#plans">${t.seePlans}</a></div>`
}

const factCard = (name: Icon, [title, text]: string[]): Markup =>
  html`<article class="card fact"><span class="badge">${icon(name)}</span><h3>${title}</h3><p class="muted">${text}</p></article>`

const MONTH_DAYS = 30

/** What a plan saves against the dearest one per day, in whole percent. */
function savingOf(plan: LandingPlan, plans: LandingPlan[]): number {
  const perDay = (one: LandingPlan) => one.price / Math.max(one.days, 1)
  const most = Math.max(...plans.map(perDay))
  return Math.floor((1 - perDay(plan) / most) * 100)
}

function plansGrid(t: Strings, input: LandingPageInput): Markup {
  const plans = input.plans.filter((plan) => plan.price > 0)
  if (plans.length === 0) return html`<p class="muted center">${t.plansEmpty}</p>`
  const savings = plans.map((plan) => savingOf(plan, plans))
  // The first that saves something is what most should look at.
  const best = savings.findIndex((saving) => saving > 0)
  const money = (price: number) => formatPrice(price, input.currency, input.lang)
  const cards = plans.map((plan, at) => {
    const buy = botLink(input.botLinkBase, input.botUsername, `buy_${plan.code}`)
    const button =
      buy &&
      html`<a class="${at === best ? 'btn pri' : 'btn'}" href="${buy}" rel="noopener" aria-label="${t.choose}: ${plan.label}">${t.choose}</a>`
    const saving = savings[at] as number
    const perMonth = Math.round((plan.price / Math.max(plan.days, 1)) * MONTH_DAYS)
    return html`<article class="${at === best ? 'card plan best' : 'card plan'}"><h3>${plan.label}</h3>${saving > 0 && html`<span class="pill rec">−${saving}%</span>`}<p class="price">${money(plan.price)}</p>${perMonth > 0 && html`<p class="muted">${t.perMonth(money(perMonth))}</p>`}${button}</article>`
  })
  return html`<div class="grid">${cards}</div>`
}
