/** Which language a page is shown in. */
import { catalogue } from './strings.ts'

/** A language of the public pages. The panel and the bot have lists of their own. */
export type Lang = keyof typeof catalogue
export const LANGS = Object.keys(catalogue) as Lang[]

const ACCEPT_MAX_LENGTH = 300

/** The one of these languages that a tag such as `ru`, `ru-RU` or `RU` names. */
export function findLang<L extends string>(
  langs: readonly L[],
  tag: string | null | undefined,
): L | undefined {
  const primary = (tag ?? '').trim().toLowerCase().split('-')[0]
  return langs.find((lang) => lang === primary)
}

/** Of these languages `?lang=`, else the best known one of Accept-Language (RFC 9110, section 12.5.4), else the default, else English. */
export function pickLang<L extends string>(
  langs: readonly (L | 'en')[],
  acceptLanguage: string | null | undefined,
  queryLang: string | null | undefined,
  defaultLang: string,
): L | 'en' {
  return (
    findLang(langs, queryLang) ??
    acceptedLang(langs, acceptLanguage) ??
    findLang(langs, defaultLang) ??
    'en'
  )
}

function acceptedLang<L extends string>(
  langs: readonly L[],
  header: string | null | undefined,
): L | undefined {
  let best: L | undefined
  let bestWeight = 0
  for (const range of (header ?? '').slice(0, ACCEPT_MAX_LENGTH).split(',')) {
    const [tag, ...parameters] = range.split(';')
    const lang = findLang(langs, tag)
    const weight = weightOf(parameters)
    if (lang && weight > bestWeight) {
      best = lang
      bestWeight = weight
    }
  }
  return best
}

function weightOf(parameters: string[]): number {
  for (const parameter of parameters) {
    const match = /^\s*q=([01](?:\.\d{0,3})?)\s*$/i.exec(parameter)
    if (match) return Number(match[1])
  }
  return 1
}
