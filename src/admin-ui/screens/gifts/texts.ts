/** Words of the gift codes, and what its parts are given. */
import type { api, QueryOf, Row } from '#src/admin-ui/api.ts'
import { giftsEn } from '#src/admin-ui/i18n/gifts.en.ts'
import { giftsRu } from '#src/admin-ui/i18n/gifts.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'

export const giftTexts = catalogue({ en: giftsEn, ru: giftsRu })

export type Gift = Row<(typeof api)['gift-codes']['$get']>
export type GiftQuery = QueryOf<(typeof api)['gift-codes']['$get']>
