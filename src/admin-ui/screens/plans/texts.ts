/** Words of the plans, and what its parts are given. */
import type { api, Row } from '#src/admin-ui/api.ts'
import { plansEn } from '#src/admin-ui/i18n/plans.en.ts'
import { plansRu } from '#src/admin-ui/i18n/plans.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'

export const planTexts = catalogue({ en: plansEn, ru: plansRu })

export type Plan = Row<(typeof api)['plans']['$get']>
