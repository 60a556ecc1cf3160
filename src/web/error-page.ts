/** Refusals and faults, for people. */
import type { Icon } from './icons.ts'
import { html } from './markup.ts'
import { buttonLink, buttonLinks, messagePage } from './message-page.ts'
import { siteLink } from './own-link.ts'
import type { PageBase } from './page-base.ts'
import { type Strings, stringsOf } from './strings.ts'

export interface ErrorPageInput extends PageBase {
  status: number
  /** What the JSON answer would say. */
  message: string
  botUrl: string | null
}

export function errorPage(input: ErrorPageInput): string {
  const t = stringsOf(input.lang)
  const { status, botUrl, helpUrl } = input
  const [badge, title, text] = wording(t, input)
  const home = siteLink(input, '/')
  return messagePage(input, {
    badge,
    title,
    text,
    detail: html`<p class="code">${status} · <span lang="en" dir="ltr">${input.message}</span></p>`,
    actions:
      status === 404
        ? buttonLinks(
            [botUrl, 'telegram', t.openBot],
            [helpUrl, 'help', t.askSupport],
            [home, 'world', t.home],
          )
        : [buttonLink(helpUrl, 'help', t.askSupport), buttonLink(home, 'world', t.home)],
  })
}

type Wording = [badge: Icon, title: string, text: string]

function wording(t: Strings, { status, botUrl }: ErrorPageInput): Wording {
  if (status === 404) {
    return ['search', t.errorNotFound, botUrl ? t.errorNotFoundText : t.errorNotFoundNoBot]
  }
  if (status === 429) return ['clock', t.errorTooMany, t.errorTooManyText]
  if (status >= 500) return ['alert', t.errorFault, t.errorFaultText]
  return ['alert', t.errorRefused, t.errorRefusedText]
}
