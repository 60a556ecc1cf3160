/** Words of the user's card, and what its parts are given. */
import type { Answer, api, Row } from '#src/admin-ui/api.ts'
import { userCardEn } from '#src/admin-ui/i18n/user-card.en.ts'
import { userCardRu } from '#src/admin-ui/i18n/user-card.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'

export const cardTexts = catalogue({ en: userCardEn, ru: userCardRu })

export type CardUser = Answer<(typeof api.users)[':tg_id']['$get']>

export type ListedUser = Row<typeof api.users.$get>
