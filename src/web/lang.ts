/** Which language a page is shown in. */

export const LANGS = ['en', 'ru'] as const
export type Lang = (typeof LANGS)[number]

const ACCEPT_MAX_LENGTH = 300

/** The language that a tag such as `ru`, `ru-RU` or `RU` names, if pages have it. */
export function findLang(tag: string | null | undefined): Lang | undefined {
  const primary = (tag ?? '').trim().toLowerCase().split('-')[0]
  return LANGS.find((lang) => lang === primary)
}

/** `?lang=`, else the best known language of Accept-Language (RFC 9110, section 12.5.4), else the default, else English. */
export function pickLang(
  acceptLanguage: string | null | undefined,
  queryLang: string | null | undefined,
  defaultLang: string,
): Lang {
  return findLang(queryLang) ?? acceptedLang(acceptLanguage) ?? findLang(defaultLang) ?? 'en'
}

function acceptedLang(header: string | null | undefined): Lang | undefined {
  let best: Lang | undefined
  let bestWeight = 0
  for (const range of (header ?? '').slice(0, ACCEPT_MAX_LENGTH).split(',')) {
    const [tag, ...parameters] = range.split(';')
    const lang = findLang(tag)
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
