/** The frame of every page: head with its one <style>, brand, language switch, <main>. */
import { raw } from 'hono/html'
import { LANGS, type Lang } from './lang.ts'
import { html, type Markup } from './markup.ts'
import { stringsOf } from './strings.ts'
import { styleOf } from './styles.ts'

/** What every page is given. */
export interface PageBase {
  lang: Lang
  brandName: string
  /** 0 to 359. Must equal the one given to pageCsp. */
  brandHue: number
}

export interface PageInput extends PageBase {
  /** Shown before the brand name; empty for the brand name alone. */
  title: string
  body: Markup
  /** After <main>. */
  footer?: Markup
  narrow?: boolean
  /** URLs of own scripts. */
  scripts?: string[]
  robots?: 'index' | 'noindex'
}

/** A complete HTML document. */
export function page(input: PageInput): string {
  const { lang, brandName, title, body, footer, scripts = [], robots = 'noindex' } = input
  const { css } = styleOf(input.brandHue)
  const document = html`<!doctype html>
<html lang="${lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">${robots === 'noindex' && html`<meta name="robots" content="noindex,nofollow">`}<title>${title ? `${title} · ${brandName}` : brandName}</title><style>${raw(css)}</style>${scripts.map((src) => html`<script defer src="${src}"></script>`)}</head>
<body><header class="top"><p class="brand">${brandName}</p>${languageNav(lang)}</header>
<main${input.narrow && html` class="narrow"`}>${body}</main>${footer && html`<footer class="foot">${footer}</footer>`}</body></html>
`
  return document.toString()
}

function languageNav(current: Lang): Markup {
  const links = LANGS.filter((lang) => lang !== current).map(
    (lang) =>
      html`<a href="?lang=${lang}" hreflang="${lang}" lang="${lang}">${stringsOf(lang).language}</a>`,
  )
  return html`<nav aria-label="${stringsOf(current).languageNav}">${links}</nav>`
}
