/** The links at the foot of the site's pages. */
import { html, type Markup } from './markup.ts'
import type { Strings } from './strings.ts'

/** `siteUrl`: origin of the site, without a trailing slash; empty: this one. */
export function siteLinks(t: Strings, siteUrl: string): Markup {
  const link = (path: string, text: string) => html`<a href="${siteUrl}${path}">${text}</a>`
  return html`<nav class="row" aria-label="${t.footerNav}">${link('/cabinet.html', t.cabinet)}${link('/offer', t.offer)}${link('/privacy', t.privacy)}</nav>`
}
