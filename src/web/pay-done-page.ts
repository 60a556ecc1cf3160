/** Where a provider sends the customer back to. The URL proves nothing, so the page never says that money has come. */
import { botButton } from './bot-button.ts'
import { type PageBase, page } from './layout.ts'
import { html } from './markup.ts'
import { stringsOf } from './strings.ts'

export interface PayDonePageInput extends PageBase {
  botUrl: string | null
}

export function payDonePage(input: PayDonePageInput): string {
  const t = stringsOf(input.lang)
  const body = html`<section class="card stack center"><h1>${t.paidTitle}</h1><p class="muted">${t.paidText}</p>${botButton(t, input.botUrl, t.openBot)}</section>`
  return page({ ...input, narrow: true, title: t.paidTitle, body })
}
