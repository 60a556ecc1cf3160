/** What a browser gets at the subscription URL of a user without an active subscription. */
import { botButton } from './bot-button.ts'
import { type PageBase, page } from './layout.ts'
import { html } from './markup.ts'
import { stringsOf } from './strings.ts'

export interface ExpiredPageInput extends PageBase {
  botUrl: string | null
}

/** Answered with 200 and `private, no-store`. */
export function expiredPage(input: ExpiredPageInput): string {
  const t = stringsOf(input.lang)
  const body = html`<section class="card stack center"><h1>${t.expiredTitle}</h1><p class="muted">${t.expiredText}</p>${botButton(t, input.botUrl, t.renew)}</section>`
  return page({ ...input, narrow: true, title: t.expiredTitle, body })
}
