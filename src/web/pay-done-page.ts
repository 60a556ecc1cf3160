/** Where a provider sends the customer back to. The URL proves nothing, so the page never says that money has come. */

import { icon } from './icons.ts'
import { linkBox } from './link-box.ts'
import { html, type Markup } from './markup.ts'
import { buttonLink, messagePage } from './message-page.ts'
import { siteLink } from './own-link.ts'
import type { PageBase } from './page-base.ts'
import { emptyQr } from './qr.ts'
import { type Strings, stringsOf } from './strings.ts'

export interface PayDonePageInput extends PageBase {
  botUrl: string | null
  /** Whether people buy on the site without a link: the key in the fragment then brings theirs. */
  guests: boolean
}

/** What the script says, by the names under which it asks for it. */
const scriptTexts = (t: Strings) => ({
  wait: t.paidWait,
  late: t.paidLate,
  failed: t.paidFailed,
  paid: t.paidLink,
})

export type PaidTexts = ReturnType<typeof scriptTexts>

/** Filled by the script, where there is a key. */
const linkPart = (t: Strings, botUrl: string | null): Markup =>
  html`<div class="stack" id="paid" data-texts="${JSON.stringify(scriptTexts(t))}" hidden><p class="note" id="paid-state" role="status"></p><div class="stack" id="paid-link" hidden>${linkBox(t, '')}<a class="btn pri wide" id="paid-open">${icon('devices')}${t.paidOpen}</a>${botUrl !== null && html`<a class="btn wide" id="paid-telegram" hidden>${icon('telegram')}${t.connectTelegram}</a>`}<p class="muted">${t.otherDeviceText}</p>${emptyQr(t.qrLabel)}</div></div>`

export function payDonePage(input: PayDonePageInput): string {
  const t = stringsOf(input.lang)
  const { botUrl, guests } = input
  const toBot = buttonLink(botUrl, 'telegram', t.paidBot, true)
  return messagePage(
    { ...input, ...(guests ? { scripts: ['paid', 'link'] } : undefined) },
    {
      badge: 'check',
      good: true,
      title: t.paidTitle,
      text: botUrl === null ? t.paidTextSite : t.paidText,
      ...(guests ? { detail: linkPart(t, botUrl) } : undefined),
      // Who has bought in the bot has no account in this browser; who has bought here has both.
      actions: [
        guests ? toBot && html`<div id="paid-bot">${toBot}</div>` : toBot,
        buttonLink(siteLink(input, '/cabinet.html'), 'user', t.cabinet, botUrl === null),
      ],
    },
  )
}
