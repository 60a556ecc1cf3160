/** The button that leads to the bot. */
import { html, type Markup } from './markup.ts'
import { buttonLink } from './message-page.ts'
import type { Strings } from './strings.ts'

/** A button to the bot, or the advice to write to it where its address is not known. */
export const botButton = (t: Strings, url: string | null, label: string): Markup =>
  buttonLink(url, 'telegram', label, true) ?? html`<p>${t.askBot}</p>`
