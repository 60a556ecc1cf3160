/** Words of the users screen. */
import { usersEn } from '#src/admin-ui/i18n/users.en.ts'
import { usersRu } from '#src/admin-ui/i18n/users.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'

export const usersTexts = catalogue({ en: usersEn, ru: usersRu })
