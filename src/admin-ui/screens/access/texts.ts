/** Words of everything that deals with access. */
import { accessEn } from '#src/admin-ui/i18n/access.en.ts'
import { accessRu } from '#src/admin-ui/i18n/access.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'

export const access = catalogue({ en: accessEn, ru: accessRu })
