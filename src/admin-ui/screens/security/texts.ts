/** Words of admins, security, backup and the API reference. */
import { accountsEn } from '#src/admin-ui/i18n/accounts.en.ts'
import { accountsRu } from '#src/admin-ui/i18n/accounts.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'

export const accountTexts = catalogue({ en: accountsEn, ru: accountsRu })
