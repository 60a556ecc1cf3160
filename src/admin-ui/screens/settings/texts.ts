/** Words of the settings. */
import { settingsEn } from '#src/admin-ui/i18n/settings.en.ts'
import { settingsRu } from '#src/admin-ui/i18n/settings.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'

export const settingsTexts = catalogue({ en: settingsEn, ru: settingsRu })
