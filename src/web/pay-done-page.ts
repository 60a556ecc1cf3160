/** Where a provider sends the customer back to. The URL proves nothing, so the page never says that money has come. */

import { buttonLink, messagePage } from './message-page.ts'
import { siteLink } from './own-link.ts'
import type { PageBase } from './page-base.ts'
import { stringsOf } from './strings.ts'

export interface PayDonePageInput extends PageBase {
  botUrl: string | null
}

export function payDonePage(input: PayDonePageInput): string {
  const t = stringsOf(input.lang)
  const { botUrl } = input
  return messagePage(input, {
    badge: 'check',
    good: true,
    title: t.paidTitle,
    text: botUrl === null ? t.paidTextSite : t.paidText,
    // Who has bought in the bot has no account in this browser; who has bought here has both.
    actions: [
      buttonLink(botUrl, 'telegram', t.paidBot, true),
      buttonLink(siteLink(input, '/cabinet.html'), 'user', t.cabinet, botUrl === null),
    ],
  })
}
