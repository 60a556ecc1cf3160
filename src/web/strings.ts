/** The texts of the public pages by language. Another language is one file beside these and its code here. */
import { en, type Strings } from './strings/en.ts'
import { ru } from './strings/ru.ts'

export type { Strings }

export const catalogue = { en, ru } satisfies Record<string, Strings>

export const stringsOf = (lang: keyof typeof catalogue): Strings => catalogue[lang]
