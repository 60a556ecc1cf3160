/** The cabinet: a shell whose script asks the API for the token in the fragment, which no server ever sees. */
import { dateLocale } from './day.ts'
import { flagSheet } from './flags.ts'
import { icon } from './icons.ts'
import { page } from './layout.ts'
import { linkBox } from './link-box.ts'
import { html, type Markup } from './markup.ts'
import { buttonLink } from './message-page.ts'
import { siteLink } from './own-link.ts'
import type { PageBase } from './page-base.ts'
import { type Strings, stringsOf } from './strings.ts'

export interface CabinetPageInput extends PageBase {
  botUrl: string | null
  /** Whether people buy here without a link. */
  guests: boolean
  /** What of a subscription people may find others for. */
  changes: { servers: boolean; plans: boolean }
  /** IANA zone that dates are shown in. */
  timezone: string
}

/** What a buyer can do about refusals of the shop (domain/payments/sale.ts, domain/payments/create.ts), by their codes. */
export const refusalTexts = (t: Strings): Record<string, string> => ({
  'payments-off': t.buyClosed,
  'nothing-sold-to-user': t.buyClosed,
  'unknown-provider': t.refusedProvider,
  'provider-not-available': t.refusedProvider,
  'provider-refused': t.refusedProvider,
  'provider-no-answer': t.refusedNoAnswer,
  'unknown-subscription': t.refusedSubscription,
  'has-no-end': t.refusedEndless,
  'subscription-disabled': t.refusedDisabled,
  'unknown-node': t.refusedNode,
  'node-not-for-sale': t.refusedNode,
  'unknown-plan': t.refusedPlan,
  'plan-archived': t.refusedPlan,
  'plan-not-for-sale': t.refusedPlan,
  'no-quota': t.refusedTraffic,
  'subscription-expired': t.refusedTraffic,
  'unknown-pack': t.refusedPack,
  'pack-archived': t.refusedPack,
  'pack-not-for-sale': t.refusedPack,
})

/** What plans have, by the period of it. */
const quotaTexts = ({ quota }: Strings) => ({
  none: quota.none('{size}'),
  day: quota.day('{size}'),
  week: quota.week('{size}'),
  month: quota.month('{size}'),
  rolling: quota.rolling('{size}'),
})

/** Whether there is anything that subscriptions may be changed to. */
const mayOffer = ({ changes }: CabinetPageInput): boolean => changes.servers || changes.plans

const changeTexts = (t: Strings) => ({
  title: t.changeTitle,
  server: t.changeServer,
  plan: t.changePlan,
  free: t.changeFree,
  line: t.changeLine,
  later: t.changeLater,
  none: t.changeNone,
  tooLittle: t.changeTooLittle,
  failed: t.changeFailed,
  done: t.changed,
})

/** What the script says, by the names under which it asks for it. */
const scriptTexts = (t: Strings, input: CabinetPageInput) => ({
  unknown: t.cabinetUnknown,
  failed: t.cabinetFailed,
  until: t.cabinetUntil,
  ended: t.cabinetEnded,
  days: t.cabinetDays,
  endless: t.terms.endless,
  unstarted: t.terms.unstarted,
  lastDay: t.cabinetLastDay,
  held: t.cabinetHeld,
  limited: t.trafficGone,
  traffic: `${t.traffic}: ${t.trafficUsed('{used}', '{allowed}')}`,
  trafficUntil: t.trafficUntil('{day}'),
  trafficBack: t.trafficBack('{day}'),
  trafficRenewed: t.trafficRenewed,
  quota: quotaTexts(t),
  disabled: t.cabinetDisabled,
  expired: t.cabinetExpired,
  renew: t.buyRenew,
  fresh: t.buyNew,
  pack: t.buyPack,
  pay: t.buyPay,
  payPrice: t.buyButton,
  paying: t.buyPaying,
  none: t.cabinetNone,
  noneClosed: t.cabinetNoneClosed,
  refused: t.buyRefused,
  refusals: refusalTexts(t),
  tryLater: t.tryLater,
  ...(input.guests && input.botUrl !== null ? { guestsLater: t.guestsLater } : undefined),
  stars: t.stars,
  renewLabel: t.renewOneLabel,
  ...(mayOffer(input) && { change: changeTexts(t) }),
  seen: t.deviceSeen,
  unknownDevice: t.deviceUnknown,
  removeLabel: t.deviceRemoveLabel,
  removeAsk: t.deviceAsk,
  removed: t.deviceRemoved,
  tooMany: t.deviceTooMany,
  removeFailed: t.deviceFailed,
  used: t.devicesUsed,
})

export type ScriptTexts = ReturnType<typeof scriptTexts>
export type ChangeTexts = ReturnType<typeof changeTexts>

export function cabinetPage(input: CabinetPageInput): string {
  const t = stringsOf(input.lang)
  const { changes } = input
  const body = html`<div id="cabinet" data-texts="${JSON.stringify(scriptTexts(t, input))}" data-timezone="${input.timezone}" data-locale="${dateLocale(input.lang)}"${input.guests && html` data-guests`}${changes.servers && html` data-servers`}${changes.plans && html` data-plans`}>
${askCard(t, input)}
<section class="card stack ask" id="state" hidden><h1>${t.cabinet}</h1><p class="note bad" id="state-text" role="alert"></p><div class="row"><button class="btn small" id="again" type="button">${icon('refresh')}${t.cabinetAgain}</button></div></section>
<section class="card stack ask" id="loading" hidden><h1>${t.cabinet}</h1><p class="muted" role="status">${t.cabinetLoading}</p></section>
<div id="account" hidden><div class="row section-head"><h1 id="owner" data-title="${t.cabinet}">${t.cabinet}</h1><a class="btn small" href="#">${t.cabinetOther}</a></div>
<div class="cols"><div class="stack main">${subscriptionsCard(t, mayOffer(input))}${buyCard(t, input)}</div>${connectCard(t, input)}${input.botUrl === null ? null : telegramCard(t)}${devicesCard(t)}</div></div>
${removeDialog(t)}${mayOffer(input) && changeDialog(t)}${flagSheet}</div>`
  return page({
    ...input,
    title: t.cabinet,
    body,
    scripts: ['cabinet', 'link'],
  })
}

/** Without scripts, where there is no build of them either, it is nothing but words. */
function askCard(t: Strings, { botUrl, guests, scriptUrls }: CabinetPageInput): Markup {
  const without = html`<p class="note">${icon('alert')}<span>${t.cabinetNoScript}</span></p>`
  return html`<section class="card stack ask" id="ask"><h1>${t.cabinet}</h1><p class="muted">${t.cabinetIntro}</p>
<form id="ask-form" class="stack" hidden><label class="field">${t.cabinetInput}<input name="link" id="ask-link" autocomplete="off" autocapitalize="none" spellcheck="false" dir="ltr" aria-describedby="ask-fault"></label><p class="note bad" id="ask-fault" role="alert" hidden></p><button class="btn pri wide">${t.cabinetShow}</button></form>
${scriptUrls ? html`<noscript>${without}</noscript>` : without}${guests && scriptUrls && buttonLink('#buy', 'card', t.buyAsGuest)}${buttonLink(botUrl, 'telegram', t.openBot)}</section>`
}

function subscriptionsCard(t: Strings, changes: boolean): Markup {
  return html`<section class="card stack"><h2>${t.cabinetSubscriptions}</h2>${changes && html`<p class="note" id="change-note" role="status" hidden></p>`}<ul class="rows" id="subscriptions"></ul><p class="muted" id="no-subscriptions" hidden></p>
<template id="subscription-row"><li><span><strong data-name></strong><span class="muted" data-detail></span></span><span class="row end-row"><span class="pill" data-state></span><button class="btn small" type="button" data-renew hidden>${t.renewOne}</button>${changes && html`<button class="btn small" type="button" data-change hidden>${t.change}</button>`}</span><span class="traffic" hidden><span class="muted" data-traffic></span><meter aria-hidden="true"></meter></span></li></template></section>`
}

/** A form that stays as it was filled in when a payment is refused. */
function buyCard(t: Strings, input: CabinetPageInput): Markup {
  const part = (id: string, label: string) =>
    html`<fieldset id="${id}-part"><legend>${label}</legend><div class="choices" id="${id}"></div></fieldset>`
  return html`<section class="card stack" id="buy"><h2 id="buy-title" tabindex="-1">${t.buyTitle}</h2>
<form id="buy-form" class="stack"><label class="field" id="renews-part">${t.buyFor}<select name="renews" id="renews"></select></label><p class="note" id="renews-held" role="status" hidden>${t.buyHeld}</p><label class="field" id="node-part">${t.buyServer}<select name="node" id="node"></select></label>${part('providers', t.buyProvider)}${part('plans', t.buyPlan)}<p class="note bad" id="buy-fault" role="alert" hidden></p><button class="btn pri wide" id="pay">${icon('card')}<span>${t.buyPay}</span></button><p class="muted">${t.buyTerms} <a href="${siteLink(input, '/offer')}">${t.offer}</a></p></form>
<div class="stack" id="closed" hidden><p class="muted">${t.buyClosed}</p>${buttonLink(input.botUrl, 'telegram', t.openBot)}</div>
<template id="choice"><label class="choice"><input type="radio" required><span data-name></span><b data-price></b></label></template></section>`
}

function connectCard(t: Strings, { guests, botUrl }: CabinetPageInput): Markup {
  return html`<section class="card stack" id="connect"><h2>${t.cabinetConnect}</h2><a class="btn pri wide" id="open-link">${icon('devices')}${t.cabinetOpen}</a><h3>${t.subLink}</h3>${linkBox(t, '')}<p class="muted">${t.keepSecret}</p>${guests && html`<p class="note" id="guest-note" hidden>${icon('alert')}<span>${botUrl === null ? t.guestLinkNoBot : t.guestLink}</span></p>`}</section>`
}

/** Only for who has no Telegram account yet. */
function telegramCard(t: Strings): Markup {
  return html`<section class="card stack" id="telegram" hidden><h2>${t.connectTelegram}</h2><p class="muted">${t.connectTelegramText}</p><a class="btn wide" id="connect-telegram">${icon('telegram')}${t.connectTelegram}</a></section>`
}

function devicesCard(t: Strings): Markup {
  return html`<section class="card stack" id="devices"><div class="row"><h2 id="devices-title" tabindex="-1">${t.devices}</h2><span class="pill" id="devices-used"></span></div><p class="note" id="device-note" role="status" hidden></p><ul class="rows" id="device-list"></ul><p class="muted" id="no-devices" hidden>${t.devicesNone}</p>
<template id="device-row"><li><span><strong data-name></strong><span class="muted" data-detail></span></span><button class="btn small bad" type="button" data-remove>${t.deviceRemove}</button></li></template></section>`
}

function removeDialog(t: Strings): Markup {
  return html`<dialog class="card" id="remove" aria-labelledby="remove-title"><form class="stack" method="dialog"><h2 id="remove-title"></h2><p class="muted">${t.deviceAskText}</p><div class="row"><button class="btn bad" value="remove">${t.deviceRemove}</button><button class="btn" value="">${t.cancel}</button></div></form></dialog>`
}

/** What there is to choose is put into it once it is asked for. */
function changeDialog(t: Strings): Markup {
  return html`<dialog class="card" id="change" aria-labelledby="change-title"><form class="stack" method="dialog"><h2 id="change-title"></h2><div class="choices" id="changes"></div><p class="muted" id="change-text" role="status"></p><div class="row"><button class="btn pri" value="change">${t.change}</button><button class="btn" value="">${t.cancel}</button></div></form></dialog>`
}
