/** The button that leads to the bot. */
import { html, type Markup } from './markup.ts'
import type { Strings } from './strings.ts'

/** A button to the bot, or the advice to write to it where its address is not known. */
export function botButton(t: Strings, url: string | null, label: string): Markup {
  return url
    ? html`<a class="btn pri wide" href="${url}" rel="noopener">${label}</a>`
    : html`<p>${t.askBot}</p>`
}
