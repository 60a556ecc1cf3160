/** What a browser gets at a subscription URL, and the bridge page that opens an app from a Telegram button. */
import { APPS, type App, addLink, appsOf, SYSTEMS, type System } from './apps.ts'
import { type PageBase, page } from './layout.ts'
import { html, type Markup } from './markup.ts'
import { qrSvg } from './qr.ts'
import { type Strings, stringsOf } from './strings.ts'

export interface SubPageSubscription {
  nodeLabel: string
  planLabel: string
  /** dd.mm.yyyy */
  expiresOn: string
  daysLeft: number
}

export interface SubPageInput extends PageBase {
  subUrl: string
  /** The active ones, in the order to show. */
  subscriptions: SubPageSubscription[]
  botUrl: string | null
}

export interface OpenPageInput extends PageBase {
  app: App
  subUrl: string
}

/** The page of a user with active subscriptions. It shows a secret: send it `private, no-store`. */
export function subPage(input: SubPageInput): string {
  const t = stringsOf(input.lang)
  const body = html`<div class="cols"><div>${connectCard(t, input.subUrl)}</div>
<div>${statusCard(t, input)}${qrCard(t, input.subUrl)}</div></div>`
  return page({ ...input, title: t.subTitle, body })
}

/** The bridge page of one app. It shows a secret: send it `private, no-store`. */
export function openPage(input: OpenPageInput): string {
  const { app, subUrl } = input
  const t = stringsOf(input.lang)
  const stores = SYSTEMS.map((system) => storeRow(t, app, system))
  const body = html`<section class="card stack"><h1>${t.openTitle(app.name)}</h1><p class="muted">${t.openText}</p>
${addButton(t, app, subUrl)}<ul class="rows">${stores}</ul>
<h2>${t.manual}</h2>${manualLink(t, subUrl)}<p><a href="${subUrl}">${t.openBack}</a></p></section>`
  return page({ ...input, narrow: true, title: t.openTitle(app.name), body })
}

function connectCard(t: Strings, subUrl: string): Markup {
  const happ = APPS[0] as App
  return html`<section class="card stack"><h1>${t.connect}</h1>
<ol class="steps"><li><h3>${t.stepInstall}</h3><p class="muted">${t.stepInstallText}</p></li>
<li><h3>${t.stepAdd}</h3><p class="muted">${t.stepAddText}</p>${addButton(t, happ, subUrl)}</li>
<li><h3>${t.stepOn}</h3><p class="muted">${t.stepOnText}</p></li></ol>
<div class="part"><h2>${t.apps}</h2>${SYSTEMS.map((system) => systemApps(t, system, subUrl))}</div>
<div class="part"><h2>${t.manual}</h2>${manualLink(t, subUrl)}</div></section>`
}

const addButton = (t: Strings, app: App, subUrl: string) =>
  html`<a class="btn pri wide" href="${addLink(app, subUrl)}">${t.addTo(app.name)}</a>`

function systemApps(t: Strings, system: System, subUrl: string): Markup {
  const rows = appsOf(system).map(
    (app) =>
      html`<li><strong>${app.name}</strong><span class="row">${storeLinks(t, app, system)}<a href="${addLink(app, subUrl)}">${t.addTo(app.name)}</a></span></li>`,
  )
  return html`<details name="system"><summary>${t[system]}</summary><ul class="rows">${rows}</ul></details>`
}

function storeRow(t: Strings, app: App, system: System): Markup | null {
  if (!app.stores[system]) return null
  return html`<li><span>${t[system]}</span><span class="row">${storeLinks(t, app, system)}</span></li>`
}

function storeLinks(t: Strings, app: App, system: System): Markup[] {
  return (app.stores[system] ?? []).map(({ label, url }) => {
    const text = typeof label === 'string' ? label : t[label.key]
    return html`<a href="${url}" rel="noopener" aria-label="${app.name}: ${text}">${text}</a>`
  })
}

function manualLink(t: Strings, subUrl: string): Markup {
  return html`<div class="stack"><p class="muted">${t.manualText}</p><code class="link" tabindex="0" aria-label="${t.subLink}" role="group">${subUrl}</code><p class="muted">${t.keepSecret}</p></div>`
}

function statusCard(t: Strings, { subscriptions, botUrl }: SubPageInput): Markup {
  const rows = subscriptions.map(
    (subscription) =>
      html`<li><span><strong>${subscription.nodeLabel}</strong><br><span class="muted">${subscription.planLabel}, ${t.subUntil} ${subscription.expiresOn}</span></span><span class="${pillOf(subscription.daysLeft)}">${t.subDays(subscription.daysLeft)}</span></li>`,
  )
  const renew = botUrl && html`<a class="btn wide" href="${botUrl}" rel="noopener">${t.renew}</a>`
  return html`<section class="card stack" aria-label="${t.subList}"><h2>${t.subTitle}</h2><ul class="rows">${rows}</ul>${renew}</section>`
}

const pillOf = (daysLeft: number) => (daysLeft <= 3 ? 'pill warn' : 'pill ok')

function qrCard(t: Strings, subUrl: string): Markup {
  return html`<section class="card stack"><h2>${t.otherDevice}</h2><p class="muted">${t.otherDeviceText}</p>${qrSvg(subUrl, t.qrLabel)}</section>`
}
