/** Languages of the panel. Texts lie in i18n/<screen>.<language>.ts; English is the type of the others. */
import { boot, remember } from './boot.ts'
import { createStore } from './store.ts'

export const LANGS = ['en', 'ru'] as const
export type Lang = (typeof LANGS)[number]

export const LANG_NAMES: Record<Lang, string> = { en: 'English', ru: 'Русский' }

const current = createStore<Lang>(boot.lang)

export const lang = () => current.get()

/** For the root: everything below is drawn again in another language. */
export const useLang = () => current.use()

export function setLang(next: Lang): void {
  document.documentElement.lang = next
  remember('panel_lang', next)
  current.set(next)
}

/** Texts of one screen in every language; called while drawing, gives those of the language of now. */
export const catalogue =
  <T extends object>(texts: Record<Lang, T>) =>
  (): T =>
    texts[current.get()]

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
