/** Pages that say one thing: a badge, a headline, a sentence, the ways on. */
import { type Icon, icon } from './icons.ts'
import { page } from './layout.ts'
import { html, type Markup } from './markup.ts'
import type { PageBase } from './page-base.ts'

export interface Message {
  badge: Icon
  good?: boolean
  title: string
  text: Markup | string
  /** Below the text, in small print. */
  detail?: Markup
  /** Buttons; the first is the one to press. */
  actions: (Markup | null)[]
}

/** A page with one message. */
export function messagePage(base: PageBase, message: Message): string {
  const { badge, good = false, title, text, detail } = message
  const actions = message.actions.filter((action) => action !== null)
  const body = html`<section class="card stack center"><span class="${good ? 'badge ok' : 'badge'}">${icon(badge)}</span><h1>${title}</h1><p>${text}</p>${detail}${actions.length > 0 && html`<div class="actions">${actions}</div>`}</section>`
  return page({ ...base, narrow: true, title, body })
}

export type Button = [url: string | null, name: Icon, label: string]

/** The buttons that lead somewhere, of which the first is filled. */
export const buttonLinks = (...buttons: Button[]): (Markup | null)[] =>
  buttons
    .filter(([url]) => url !== null)
    .map(([url, name, label], at) => buttonLink(url, name, label, at === 0))

/** A link that looks like a button; none without an address. */
export function buttonLink(
  url: string | null,
  name: Icon,
  label: string,
  primary = false,
): Markup | null {
  return url === null
    ? null
    : html`<a class="${primary ? 'btn pri wide' : 'btn wide'}" href="${url}" rel="noopener">${icon(name)}${label}</a>`
}
