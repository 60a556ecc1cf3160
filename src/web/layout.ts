/** The frame of every page: head with its one <style>, brand, help, languages, <main>, the way to the documents. */
import { raw } from 'hono/html'
import { icon } from './icons.ts'
import { LANGS } from './lang.ts'
import { html, type Markup } from './markup.ts'
import { inAskedLang, siteLink } from './own-link.ts'
import type { PageBase } from './page-base.ts'
import type { PageScript } from './page-scripts.ts'
import { accentsOf } from './palette.ts'
import { type Strings, stringsOf } from './strings.ts'
import { styleOf } from './styles.ts'

export interface PageInput extends PageBase {
  /** Shown before the brand name; empty for the brand name alone. */
  title: string
  body: Markup
  /** A button at the top, beside help and languages. */
  action?: Markup | null
  narrow?: boolean
  /** The account of whose link the page shows; without it the footer leads to the question for a link. */
  accountUrl?: string
  /** The own scripts that it loads, where they are built. */
  scripts?: PageScript[]
  /** For search engines, which see no page without one. */
  description?: string
}

/** A complete HTML document. */
export function page(input: PageInput): string {
  const { lang, brandName, title, body, scripts = [], scriptUrls, description } = input
  const { css } = styleOf(input.brandHue)
  const t = stringsOf(lang)
  const document = html`<!doctype html>
<html lang="${lang}"${t.dir === 'rtl' && html` dir="rtl"`}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><link rel="icon" href="${favicon(input.brandHue)}">${description ? html`<meta name="description" content="${description}">` : html`<meta name="robots" content="noindex,nofollow">`}<title>${title ? `${title} · ${brandName}` : brandName}</title><style>${raw(css)}</style>${scriptUrls && scripts.map((name) => html`<script defer src="${scriptUrls[name]}"></script>`)}</head>
<body><header class="top"><a class="brand" href="${siteLink(input, '/')}"><span class="logo">${icon('bolt')}</span><bdi>${brandName}</bdi></a>${helpLink(t, input.helpUrl)}${input.action}${languages(t, input)}</header>
<main${input.narrow && html` class="narrow"`}>${body}</main>${footer(t, input)}</body></html>
`
  return document.toString()
}

/** The logo in the colour of the brand, as a picture within the page. */
function favicon(hue: number): string {
  const { accent } = accentsOf(hue).light
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 34 34"><rect width="34" height="34" rx="10" fill="${accent}"/><path fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" d="M18 8v7h6l-8 11v-7h-6z"/></svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}

function helpLink(t: Strings, url: string | null): Markup | null {
  return url === null
    ? null
    : html`<a class="ghost" href="${url}" rel="noopener">${icon('help')}<span class="t">${t.support}</span></a>`
}

/** A menu that opens and closes without a script. */
function languages(t: Strings, { lang: current, query }: PageBase): Markup {
  const items = LANGS.map((lang) => {
    const { language } = stringsOf(lang)
    const link = html`<a href="?${query && `${query}&`}lang=${lang}" hreflang="${lang}" lang="${lang}">${language}</a>`
    return html`<li>${lang === current ? html`<span aria-current="true">${language}</span>` : link}</li>`
  })
  return html`<nav class="lang" aria-label="${t.languageNav}"><details><summary class="ghost">${icon('language')}<span class="t">${t.language}</span>${chevron}</summary><ul>${items}</ul></details></nav>`
}

/** What turns when its part is opened. */
export const chevron = html`<svg class="i chev" viewBox="0 0 24 24" aria-hidden="true"><path d="M6 9l6 6l6-6"/></svg>`

function footer(t: Strings, base: PageInput): Markup {
  const link = (url: string, text: string) => html`<a href="${inAskedLang(base, url)}">${text}</a>`
  const own = (path: string) => base.siteUrl + path
  return html`<footer class="foot"><nav aria-label="${t.footerNav}">${link(own('/offer'), t.offer)}${link(own('/privacy'), t.privacy)}${link(base.accountUrl ?? own('/cabinet.html'), t.cabinet)}</nav><span>© ${base.year} <bdi>${base.brandName}</bdi></span></footer>`
}
