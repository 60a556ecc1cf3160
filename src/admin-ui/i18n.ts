/** Languages of the panel. Texts lie in i18n/<screen>.<language>.ts; English is the type of the others. A build has one language. */
import { boot, remember } from './boot.ts'

export const LANGS = ['en', 'ru'] as const
export type Lang = (typeof LANGS)[number]

export const LANG_NAMES: Record<Lang, string> = { en: 'English', ru: 'Русский' }

/** The language of the page, and of the build that it loads. */
export const lang = (): Lang => boot.lang

/** Loads the page in another language, which is another build; where something was typed the browser asks first. */
export function setLang(next: Lang): void {
  remember('panel_lang', next)
  if (next !== lang()) location.reload()
}

/** Texts of one screen in every language, of which a build keeps its own; called while drawing, gives those of the page. */
export const catalogue =
  <T extends object>(texts: Record<Lang, T>) =>
  (): T =>
    texts[lang()]

type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }

const rules = new Map<string, Intl.PluralRules>()

/** `3 users`: the number as the language writes it, and the form that goes with it. */
export function plural(language: Lang, n: number, forms: Forms): string {
  let rule = rules.get(language)
  if (!rule) {
    rule = new Intl.PluralRules(language)
    rules.set(language, rule)
  }
  const text = forms[rule.select(n)] ?? forms.other
  return `${new Intl.NumberFormat(language).format(n)} ${text}`
}
