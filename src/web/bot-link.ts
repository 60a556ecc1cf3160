/** Links to the bot. */
import { html, type Markup } from './markup.ts'
import type { Strings } from './strings.ts'

/** `{base}/{username}`, with `?start=` where a payload is given; null while the bot has no name. */
export function botLink(base: string, username: string, start?: string): string | null {
  const name = username.trim().replace(/^@/, '')
  if (name === '' || !/^https?:\/\//i.test(base)) return null
  const link = `${base.replace(/\/+$/, '')}/${encodeURIComponent(name)}`
  return start ? `${link}?start=${encodeURIComponent(start)}` : link
}

/** A button to the bot, or the advice to write to it where its address is not known. */
export function botButton(t: Strings, url: string | null, label: string): Markup {
  return url
    ? html`<a class="btn pri wide" href="${url}" rel="noopener">${label}</a>`
    : html`<p>${t.askBot}</p>`
}
