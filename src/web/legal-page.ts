/** Offer and privacy page: templates that operators edit, filled with the settings of now. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { raw } from 'hono/html'
import type { Lang } from './lang.ts'
import { page } from './layout.ts'
import { html, type Markup } from './markup.ts'
import type { PageBase } from './page-base.ts'
import { stringsOf } from './strings.ts'

export type LegalDocument = 'offer' | 'privacy'

export interface LegalPageInput extends PageBase {
  document: LegalDocument
  /** What may stand between `{{` and `}}`; an empty value is shown as not set. */
  tokens: Map<string, string>
}

const TEMPLATES = join(import.meta.dirname, '..', '..', 'templates')

const templateOf = (document: LegalDocument, lang: Lang) =>
  join(TEMPLATES, `${document}.${lang}.html`)

/** Read for every page: less than 50 µs, and an edited file counts at once. In English where a language has no text of its own. */
function readTemplate(document: LegalDocument, wanted: Lang): { lang: Lang; text: string } {
  const lang = existsSync(templateOf(document, wanted)) ? wanted : 'en'
  return { lang, text: readFileSync(templateOf(document, lang), 'utf8') }
}

/** A token; and whatever else begins like one, so that a misspelt one is as visible as one without a value. */
const TOKEN = /\{\{\s*(\w*)\s*\}\}|\{\{[^{}\n]{0,80}\}{0,2}/g

/** A value's own braces must not look like a token. */
const escapeValue = (value: string): string => html`${value}`.toString().replaceAll('{', '&#123;')

/** The template with its tokens replaced: values escaped, a badge where there is none; within a tag the badge's words alone. */
export function fillTemplate(template: string, tokens: Map<string, string>, lang: Lang): string {
  const { notSet } = stringsOf(lang)
  const badge = html`<span class="not-set">${notSet}</span>`.toString()
  return template.replace(TOKEN, (_token, name: string | undefined, offset: number) => {
    const value = tokens.get(name ?? '')
    if (value) return escapeValue(value)
    const insideTag = template.lastIndexOf('<', offset) > template.lastIndexOf('>', offset)
    return insideTag ? escapeValue(notSet) : badge
  })
}

const HEADING = /<h2 id="([\w-]+)">([^<]*)<\/h2>/g

/** The template's `<h2 id>` as links. */
function contentsOf(filled: string, label: string): Markup {
  const items = [...filled.matchAll(HEADING)].map(
    ([, id, text]) => html`<li><a href="#${id}">${raw(text ?? '') as Markup}</a></li>`,
  )
  return html`<nav class="contents" aria-labelledby="contents"><h2 id="contents">${label}</h2><ul>${items}</ul></nav>`
}

export function legalPage(input: LegalPageInput): string {
  const t = stringsOf(input.lang)
  const { lang, text } = readTemplate(input.document, input.lang)
  const filled = fillTemplate(text, input.tokens, lang)
  const body = html`<div class="legal-page">${contentsOf(filled, t.contents)}<article class="card legal" lang="${lang}" dir="${stringsOf(lang).dir}">${raw(filled) as Markup}</article></div>`
  return page({
    ...input,
    title: t[input.document],
    body,
    description: `${t[input.document]}, ${input.brandName}`,
  })
}
