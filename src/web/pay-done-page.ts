/** Where a provider sends the customer back to. The URL proves nothing, so the page never says that money has come. */
import { botButton } from './bot-button.ts'
import type { PageBase } from './layout.ts'
import { buttonLink, messagePage } from './message-page.ts'
import { stringsOf } from './strings.ts'

export interface PayDonePageInput extends PageBase {
  botUrl: string | null
}

export function payDonePage(input: PayDonePageInput): string {
  const t = stringsOf(input.lang)
  return messagePage(input, {
    badge: 'check',
    good: true,
    title: t.paidTitle,
    text: t.paidText,
    actions: [
      botButton(t, input.botUrl, t.paidBot),
      buttonLink(`${input.siteUrl}/cabinet.html`, 'user', t.cabinet),
    ],
  })
}
