/** Client apps on pages: where to get them, the button that adds the subscription, the link for everything else. */
import { addLink, appsOf, fittingApps, storeLabel } from '#src/domain/lists/apps.ts'
import type { App, Store, System } from '#src/settings/app-catalogue.ts'
import { type Icon, icon } from './icons.ts'
import type { Lang } from './lang.ts'
import { chevron } from './layout.ts'
import { html, type Markup } from './markup.ts'
import type { Strings } from './strings.ts'

export interface Offer {
  t: Strings
  lang: Lang
  apps: readonly App[]
  subUrl: string
  /** Whether devices are limited: apps that send no device id get no list then. */
  limited: boolean
  /** What the page is opened on. */
  visitor: System
}

/** It opens the app with the subscription in it. Filled where that is what is to be done on this device. */
export const addButton = ({ t, subUrl }: Offer, app: App, filled: boolean): Markup =>
  html`<a class="${filled ? 'btn pri wide' : 'btn wide'}" href="${addLink(app, subUrl)}" data-add>${icon('plus')}${t.addTo(app.name)}</a>`

/** A letter in place of an app's own picture, which is not ours to serve. */
const appIcon = ({ name }: App) =>
  html`<span class="app-icon" aria-hidden="true">${Array.from(name)[0]?.toUpperCase()}</span>`

function storeIcon(url: string): Icon {
  if (url.startsWith('https://apps.apple.com/')) return 'apple'
  return url.startsWith('https://play.google.com/') ? 'play' : 'download'
}

const storeLink = (lang: Lang, app: App, store: Store, button?: Markup) => {
  const label = storeLabel(store, lang)
  return html`<a${button && html` class="btn"`} href="${store.url}" rel="noopener" aria-label="${app.name}: ${label}">${button}${label}</a>`
}

/** The stores of an app for a system, as buttons. */
export function storeButtons({ lang }: Offer, app: App, system: System): Markup {
  const links = (app.stores[system] ?? []).map((store) =>
    storeLink(lang, app, store, icon(storeIcon(store.url))),
  )
  return html`<div class="pair">${links}</div>`
}

const appsFor = ({ apps, limited }: Offer, system: System) =>
  fittingApps(appsOf(apps, system), limited)

/** The recommended app of a system, in three steps. */
export function systemSteps(offer: Offer, system: System): Markup {
  const { t, visitor } = offer
  const { apps, unfit } = appsFor(offer, system)
  const [first] = apps
  if (!first) return html`<div class="for for-${system}"><p class="note">${t.noApps}</p></div>`
  const tv = system === 'tv'
  const addText = tv ? t.stepAddTv(first.name) : t.stepAddText
  const note = unfit ? html`<p class="note">${icon('alert')}<span>${t.noneFits}</span></p>` : null
  const pill = unfit ? null : html`<span class="pill rec">${t.recommended}</span>`
  return html`<div class="for for-${system}">${note}<div class="app">${appIcon(first)}<div><strong>${first.name}</strong><span class="muted">${t.appText}</span></div>${pill}</div>
<ol class="steps"><li><h3>${t.stepInstall(first.name)}</h3><p class="muted">${t.stepInstallText[system]}</p>${storeButtons(offer, first, system)}</li>
<li><h3>${t.stepAdd}</h3><p class="muted">${addText}</p>${addButton(offer, first, !tv || visitor === 'tv')}</li>
<li><h3>${t.stepOn}</h3><p class="muted">${t.stepOnText[system]}</p></li></ol></div>`
}

/** The further apps of a system; nothing where there are none. */
export function otherApps(offer: Offer, system: System): Markup | null {
  const { t, lang, subUrl } = offer
  const others = appsFor(offer, system).apps.slice(1)
  if (others.length === 0) return null
  const rows = others.map((app) => {
    const stores = (app.stores[system] ?? []).map((store) => storeLink(lang, app, store))
    return html`<li>${appIcon(app)}<span><strong>${app.name}</strong><span class="muted">${stores}</span></span><a class="btn small" href="${addLink(app, subUrl)}" aria-label="${t.addTo(app.name)}" data-add>${t.add}</a></li>`
  })
  return html`<details class="more for for-${system}"><summary>${icon('apps')}${t.apps}${chevron}</summary><ul class="others">${rows}</ul></details>`
}
