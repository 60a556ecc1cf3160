/** The texts of the public pages by language. Another language is one file beside these, one line here and its code in lang.ts. */
import type { Lang } from './lang.ts'
import { en, type Strings } from './strings/en.ts'
import { ru } from './strings/ru.ts'

export type { Strings }

const catalogue: Record<Lang, Strings> = { en, ru }

export const stringsOf = (lang: Lang): Strings => catalogue[lang]
