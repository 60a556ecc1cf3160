/** The public face of the service: plans, servers, the way to the bot. */
import { botLink } from '#src/lib/bot-link.ts'
import { formatPrice } from '#src/lib/format.ts'
import { type PageBase, page } from './layout.ts'
import { html, type Markup } from './markup.ts'
import { siteLinks } from './site-links.ts'
import { type Strings, stringsOf } from './strings.ts'

export interface LandingPlan {
  code: string
  label: string
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
  /** Origin of the site, without a trailing slash; empty: this one. */
  siteUrl: string
}

export function landingPage(input: LandingPageInput): string {
  const t = stringsOf(input.lang)
  const bot = botLink(input.botLinkBase, input.botUsername)
  const body = html`<section class="hero"><h1>${t.heroTitle}</h1><p>${t.heroText}</p><div class="chips">${heroButton(t, bot)}</div></section>
<section class="section"><h2>${t.plans}</h2>${plansGrid(t, input)}</section>
${input.nodeLabels.length > 0 && html`<section class="section"><h2>${t.servers}</h2><ul class="chips">${input.nodeLabels.map((label) => html`<li>${label}</li>`)}</ul></section>`}`
  return page({ ...input, title: '', body, footer: siteLinks(t, input.siteUrl), robots: 'index' })
}

function heroButton(t: Strings, bot: string | null): Markup {
  return bot
    ? html`<a class="btn pri" href="${bot}" rel="noopener">${t.openBot}</a>`
    : html`<p>${t.askBot}</p>`
}

function plansGrid(t: Strings, input: LandingPageInput): Markup {
  const plans = input.plans.filter((plan) => plan.price > 0)
  if (plans.length === 0) return html`<p class="muted center">${t.plansEmpty}</p>`
  const cards = plans.map((plan) => {
    const buy = botLink(input.botLinkBase, input.botUsername, `buy_${plan.code}`)
    const button =
      buy &&
      html`<a class="btn wide" href="${buy}" rel="noopener" aria-label="${t.choose}: ${plan.label}">${t.choose}</a>`
    return html`<article class="card"><h3>${plan.label}</h3><p class="price">${formatPrice(plan.price, input.currency, input.lang)}</p>${button}</article>`
  })
  return html`<div class="grid">${cards}</div>`
}
