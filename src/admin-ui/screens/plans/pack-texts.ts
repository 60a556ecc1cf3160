/** Words of the traffic packs, and what their parts are given. */
import type { api, Row } from '#src/admin-ui/api.ts'
import { packsEn } from '#src/admin-ui/i18n/packs.en.ts'
import { packsRu } from '#src/admin-ui/i18n/packs.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'
import { invalidate } from '#src/admin-ui/query.ts'

export const packTexts = catalogue({ en: packsEn, ru: packsRu })

export type Pack = Row<(typeof api)['traffic-packs']['$get']>

/** What is shown of packs is read anew. */
export const packsChanged = () => invalidate('traffic-packs')
