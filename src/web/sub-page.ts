/** What a browser gets at a subscription URL, and the bridge page that opens an app from a Telegram button. */
import { sendsDeviceId } from '#src/domain/lists/apps.ts'
import { type App, SYSTEMS, type System } from '#src/settings/app-catalogue.ts'
import { addButton, type Offer, otherApps, storeButtons, systemSteps } from './app-links.ts'
import { nodeLabel } from './flags.ts'
import { type Icon, icon } from './icons.ts'
import { chevron, page } from './layout.ts'
import { linkBox } from './link-box.ts'
import { html, type Markup } from './markup.ts'
import { buttonLink } from './message-page.ts'
import { inAskedLang } from './own-link.ts'
import type { PageBase } from './page-base.ts'
import { qrSvg } from './qr.ts'
import { type Strings, stringsOf } from './strings.ts'
import { type UsedTraffic, usedText } from './traffic.ts'

/** What is said in place of an end: that there is none, or that its days wait for the first use. */
type Term = 'endless' | 'unstarted'

export interface SubPageSubscription {
  nodeLabel: string
  planLabel: string
  /** In words. */
  expiresOn: string
  /** A begun one counted. */
  daysToGo: number
  term?: Term
  /** How long the plan lasts, where it is known: the whole of the ring. */
  planDays: number | null
  /** What of its traffic is used, where that has a limit. */
  traffic?: UsedTraffic | null
}

export interface PausedSubscription {
  nodeLabel: string
  planLabel: string
  /** Those that are kept for it. */
  daysToGo: number
  term?: Term
}

export interface SubPageInput extends PageBase {
  subUrl: string
  /** The cabinet of the link's owner, where they remove devices. */
  accountUrl: string
  /** The active ones, what ends first at the front; not empty. */
  subscriptions: SubPageSubscription[]
  paused: PausedSubscription[]
  botUrl: string | null
  /** Where the owner connects their Telegram account, if there is one to connect. */
  connectUrl?: string | null
  /** Whether the owner of the link can pay for anything now. */
  selling: boolean
  /** Where the owner pays without the bot; null while nothing is sold there. */
  renewUrl: string | null
  /** How many devices there are and may be; null while nobody counts them. */
  devices: { count: number; limit: number } | null
  apps: readonly App[]
  /** Whose steps are shown first. */
  system: System
  /** What the page is opened on. */
  visitor: System
  ipad: boolean
  /** Whether the page is known to be open within Telegram. */
  inTelegram: boolean
}

export interface OpenPageInput extends PageBase {
  app: App
  subUrl: string
  accountUrl: string
  /** Whether devices are limited. */
  limited: boolean
  system: System
  visitor: System
  inTelegram: boolean
}

/** From so many days on an expiry is near. */
const SOON_DAYS = 3

/** The page of a user with active subscriptions. It shows a secret: send it `private, no-store`. */
export function subPage(input: SubPageInput): string {
  const t = stringsOf(input.lang)
  const { lang, apps, subUrl, visitor } = input
  const offer = { t, lang, apps, subUrl, limited: input.devices !== null, visitor }
  const body = html`<div class="cols">${statusCard(t, input)}${connectCard(offer, input)}${factsCard(t, input)}${qrCard(t, input.subUrl)}</div>`
  return page({ ...input, title: titleOf(t, input), body, scripts: ['link'] })
}

/** The bridge page of one app. It shows a secret: send it `private, no-store`. */
export function openPage(input: OpenPageInput): string {
  const { app, subUrl, lang, inTelegram, limited, visitor } = input
  const t = stringsOf(lang)
  const offer = { t, lang, apps: [app], subUrl, limited, visitor }
  const unfit = limited && !sendsDeviceId(app)
  const backUrl = inAskedLang(input, subUrl)
  const systems = [input.system, ...SYSTEMS.filter((system) => system !== input.system)]
  const rows = systems
    .filter((system) => app.stores[system])
    .map(
      (system) =>
        html`<li><span class="stack"><h3>${t.systems[system]}</h3>${storeButtons(offer, app, system)}</span></li>`,
    )
  const body = html`<section class="card stack main">${telegramNote(t, inTelegram)}<h1>${t.openTitle(app.name)}</h1>${unfit ? html`<p class="note">${icon('alert')}<span>${t.openUnfit(app.name)}</span></p>` : html`<p class="muted">${t.openText}</p>`}
${unfit && html`<a class="btn pri wide" href="${backUrl}">${icon('apps')}${t.openBack}</a>`}${addButton(offer, app, !unfit)}
<details class="more"${rows.length > 0 || html` hidden`}><summary>${icon('download')}${t.openMissing(app.name)}${chevron}</summary><ul class="rows">${rows}</ul></details>
${manual(t, subUrl)}
${unfit || html`<p><a href="${backUrl}">${t.openBack}</a></p>`}</section>`
  return page({
    ...input,
    narrow: true,
    title: t.openTitle(app.name),
    body,
    scripts: ['link'],
  })
}

/** Shown by the server where the browser says it is Telegram's, else by the page's script where it finds out. */
const telegramNote = (t: Strings, shown: boolean): Markup =>
  html`<p class="note" id="in-telegram"${shown || html` hidden`}>${icon('alert')}<span>${t.inTelegram}</span></p>`

const SYSTEM_ICONS: Record<System, Icon> = {
  ios: 'apple',
  android: 'android',
  windows: 'windows',
  macos: 'laptop',
  linux: 'linux',
  tv: 'tv',
}

function connectCard(offer: Offer, { system: current, ipad, inTelegram }: SubPageInput): Markup {
  const { t } = offer
  const radios = SYSTEMS.map(
    (system) =>
      html`<input class="pick" type="radio" name="os" id="os-${system}"${system === current && html` checked`}>`,
  )
  const titles = SYSTEMS.map(
    (system) =>
      html`<h2 class="for for-${system}"${system === 'ios' && html` data-ipad="${t.connectIpad}"`}>${system === 'ios' && ipad ? t.connectIpad : t.connect[system]}</h2>`,
  )
  const labels = SYSTEMS.map(
    (system) =>
      html`<label for="os-${system}">${icon(SYSTEM_ICONS[system])}${t.systems[system]}</label>`,
  )
  // The styles need the radio buttons beside what they switch; their group, which has the labels, owns them.
  const ids = SYSTEMS.map((system) => `os-${system}`).join(' ')
  return html`<section class="card main" aria-label="${t.stepAdd}">${radios}<div>${titles}<p class="muted lead">${t.connectText}</p></div>
<div class="os" role="radiogroup" aria-label="${t.yourSystem}" aria-owns="${ids}">${labels}</div>
<div>${SYSTEMS.map((system) => systemSteps(offer, system))}</div>
${telegramNote(t, inTelegram)}${manual(t, offer.subUrl)}
<div>${SYSTEMS.map((system) => otherApps(offer, system))}</div></section>`
}

function manual(t: Strings, subUrl: string): Markup {
  return html`<details class="more" id="manual" open><summary>${icon('help')}${t.manual}${chevron}</summary><div class="stack"><p class="muted">${t.manualText}</p>${linkBox(t, subUrl)}<p class="muted">${t.keepSecret}</p></div></details>`
}

/** Whether nothing of theirs has traffic left. */
const isUsedUp = ({ subscriptions }: SubPageInput): boolean =>
  subscriptions.every(({ traffic }) => traffic?.isUsedUp)

const titleOf = (t: Strings, input: SubPageInput): string =>
  isUsedUp(input) ? t.subLimited : t.subTitle

function statusCard(t: Strings, input: SubPageInput): Markup {
  const [first] = input.subscriptions
  if (!first) return html``
  const about = (isUsedUp(input) && first.traffic?.when) || untilOf(t, first)
  return html`<section class="card status status-card">${ring(t, first)}<div><h1>${titleOf(t, input)}</h1><p class="muted">${about}</p></div></section>`
}

/** How much is used of what is allowed, in words and as a bar. */
const trafficLine = (t: Strings, traffic: UsedTraffic): Markup =>
  html`<span class="traffic"><span class="muted">${t.traffic}: ${usedText(traffic)}</span><meter${traffic.isUsedUp && html` class="bad"`} value="${traffic.share.toFixed(3)}" aria-hidden="true"></meter></span>`

const untilOf = (t: Strings, { term, expiresOn }: SubPageSubscription): string =>
  term ? t.terms[term] : `${t.subUntil} ${expiresOn}`

const daysOf = (t: Strings, { term, daysToGo }: PausedSubscription): string =>
  term === 'endless' ? t.terms.endless : t.subDays(daysToGo)

/** The days that are left, as a part of the plan's. */
function ring(t: Strings, { daysToGo, planDays, term }: SubPageSubscription): Markup {
  if (term === 'endless') {
    return html`<svg class="ring" viewBox="0 0 92 92" role="img" aria-label="${t.terms.endless}"><circle cx="46" cy="46" r="40"/><circle cx="46" cy="46" r="40"/><text x="46" y="54">∞</text></svg>`
  }
  const whole = Math.max(planDays ?? 30, 1)
  const part = Math.round(Math.min(1, daysToGo / whole) * 100)
  const digits = String(daysToGo).length > 3 ? html` textLength="60"` : null
  return html`<svg class="${daysToGo <= SOON_DAYS && !term ? 'ring soon' : 'ring'}" viewBox="0 0 92 92" role="img" aria-label="${t.subDays(daysToGo)}"><circle cx="46" cy="46" r="40"/><circle cx="46" cy="46" r="40" pathLength="100" stroke-dasharray="${part} 100" transform="rotate(-90 46 46)"/><text x="46" y="50"${digits}>${t.number(daysToGo)}</text><text x="46" y="65">${t.dayWord(daysToGo)}</text></svg>`
}

function standing(t: Strings, { term, daysToGo, traffic }: SubPageSubscription): Markup {
  if (traffic?.isUsedUp) return html`<span class="pill bad">${t.trafficGone}</span>`
  if (term === 'endless') return html`<span class="pill ok">∞</span>`
  return html`<span class="${daysToGo <= SOON_DAYS && !term ? 'pill warn' : 'pill ok'}">${t.subDays(daysToGo)}</span>`
}

function factsCard(t: Strings, input: SubPageInput): Markup {
  const { subscriptions, paused, devices, botUrl } = input
  const accountUrl = inAskedLang(input, input.accountUrl)
  const renewUrl = input.renewUrl && inAskedLang(input, input.renewUrl)
  const rows = subscriptions.map(
    (subscription) =>
      html`<li><span><strong>${nodeLabel(subscription.nodeLabel)}</strong><span class="muted"><bdi>${subscription.planLabel}</bdi> · <span>${untilOf(t, subscription)}</span></span></span>${standing(t, subscription)}${subscription.traffic && trafficLine(t, subscription.traffic)}</li>`,
  )
  const pausedRows = paused.map(
    (one) =>
      html`<li class="paused"><span><strong>${nodeLabel(one.nodeLabel)}</strong><span class="muted"><bdi>${one.planLabel}</bdi> · <span>${daysOf(t, one)}</span></span></span><span class="pill">${t.subPaused}</span></li>`,
  )
  const full = devices && devices.count >= devices.limit
  const deviceRow =
    devices &&
    html`<li><span><strong>${t.devices}</strong>${full && html`<span class="muted">${t.devicesFull} <a href="${accountUrl}">${t.devicesFullLink}</a>.</span>`}</span><span class="${full ? 'pill warn' : 'pill'}">${t.devicesOf(devices.count, devices.limit)}</span></li>`
  return html`<section class="card stack facts"><h2 class="sr">${t.subList}</h2><ul class="rows">${rows}${pausedRows}${deviceRow}</ul>${input.selling ? buttonLink(botUrl, 'refresh', t.renew) : buttonLink(botUrl, 'telegram', t.openBot)}${buttonLink(renewUrl, 'card', t.renewOnSite)}${buttonLink(input.connectUrl ?? null, 'telegram', t.connectTelegram)}</section>`
}

function qrCard(t: Strings, subUrl: string): Markup {
  return html`<section class="card stack"><h2>${t.otherDevice}</h2><p class="muted">${t.otherDeviceText}</p>${qrSvg(subUrl, t.qrLabel)}</section>`
}
