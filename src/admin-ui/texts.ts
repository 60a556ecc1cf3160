/** Texts that every screen may need. */
import { commonEn } from './i18n/common.en.ts'
import { commonRu } from './i18n/common.ru.ts'
import { shellEn } from './i18n/shell.en.ts'
import { shellRu } from './i18n/shell.ru.ts'
import { catalogue } from './i18n.ts'

export const common = catalogue({ en: commonEn, ru: commonRu })

export const shell = catalogue({ en: shellEn, ru: shellRu })
