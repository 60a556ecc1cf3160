/** The cabinet: a static shell; its script asks the API for the token in the fragment, which no server ever sees. */
import { assetUrl } from './assets.ts'
import { type PageBase, page } from './layout.ts'
import { html } from './markup.ts'
import { stringsOf } from './strings.ts'

export interface CabinetPageInput extends PageBase {
  botUrl: string | null
  /** IANA zone that dates are shown in. */
  timezone: string
}

export function cabinetPage(input: CabinetPageInput): string {
  const t = stringsOf(input.lang)
  const texts = JSON.stringify({
    copy: t.copy,
    copied: t.copied,
    loading: t.cabinetLoading,
    unknown: t.cabinetUnknown,
    failed: t.cabinetFailed,
    none: t.cabinetNone,
    until: t.cabinetUntil,
    days: t.cabinetDays,
  })
  const body = html`<div id="cabinet" class="stack" data-texts="${texts}" data-timezone="${input.timezone}">
<section class="card stack" id="ask"><h1>${t.cabinet}</h1><p class="muted">${t.cabinetIntro}</p>
<form id="ask-form" class="row end" hidden><label class="field">${t.cabinetInput}<input name="link" autocomplete="off" spellcheck="false" required></label><button class="btn pri">${t.cabinetShow}</button></form>
<noscript><p class="note">${t.cabinetNoScript}</p></noscript></section>
<p id="state" class="note" role="status" hidden></p>
<section class="card stack" id="account" hidden><h1 id="owner" data-title="${t.cabinet}">${t.cabinet}</h1><ul class="rows" id="subscriptions"></ul>
<div class="stack"><h2>${t.subLink}</h2><code class="link" id="sub-link" tabindex="0" role="group" aria-label="${t.subLink}"></code>
<div class="row"><a class="btn pri" id="open-link">${t.cabinetOpen}</a><button class="btn" id="copy" type="button">${t.copy}</button></div>
<p class="muted">${t.keepSecret}</p></div>
<div id="servers" hidden><h2>${t.servers}</h2><p class="muted" id="server-list"></p></div>
<p><a href="#">${t.cabinetOther}</a></p></section>
${input.botUrl && html`<p class="center"><a href="${input.botUrl}" rel="noopener">${t.openBot}</a></p>`}</div>`
  return page({
    ...input,
    narrow: true,
    title: t.cabinet,
    body,
    scripts: [assetUrl('cabinet.js')],
  })
}
