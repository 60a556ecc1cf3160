/** Refusals and faults, for people. */
import type { Icon } from './icons.ts'
import type { PageBase } from './layout.ts'
import { html } from './markup.ts'
import { buttonLink, messagePage } from './message-page.ts'
import { type Strings, stringsOf } from './strings.ts'

export interface ErrorPageInput extends PageBase {
  status: number
  /** What the JSON answer would say. */
  message: string
  botUrl: string | null
}

export function errorPage(input: ErrorPageInput): string {
  const t = stringsOf(input.lang)
  const { status, botUrl, helpUrl, siteUrl } = input
  const [badge, title, text] = wording(t, status)
  return messagePage(input, {
    badge,
    title,
    text,
    detail: html`<p class="code">${status} · <span lang="en" dir="ltr">${input.message}</span></p>`,
    actions: [
      status === 404 ? buttonLink(botUrl, 'telegram', t.openBot, true) : null,
      buttonLink(helpUrl, 'help', t.askSupport),
      buttonLink(`${siteUrl}/`, 'world', t.home),
    ],
  })
}

function wording(t: Strings, status: number): [badge: Icon, title: string, text: string] {
  if (status === 404) return ['search', t.errorNotFound, t.errorNotFoundText]
  if (status === 429) return ['clock', t.errorTooMany, t.errorTooManyText]
  if (status >= 500) return ['alert', t.errorFault, t.errorFaultText]
  return ['alert', t.errorRefused, t.errorRefusedText]
}
