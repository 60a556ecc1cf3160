/** The subscription link to copy: readable and selectable without a script, with a button where there is one. */
import { icon } from './icons.ts'
import { html, type Markup } from './markup.ts'
import type { Strings } from './strings.ts'

/** The script of the page shows the button and makes it work. */
export const linkBox = (t: Strings, url: string): Markup =>
  html`<div class="link-row"><code class="link" id="sub-link" dir="ltr" tabindex="0" role="group" aria-label="${t.subLink}">${url}</code><button class="ghost" id="copy" type="button" data-copied="${t.copied}" data-by-hand="${t.copyByHand}" hidden>${icon('copy')}<span>${t.copy}</span></button></div><p class="sr" id="copy-state" role="status"></p>`
