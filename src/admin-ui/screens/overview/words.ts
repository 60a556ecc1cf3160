/** Texts and types that the parts of the overview share. */
import type { Answer, api } from '#src/admin-ui/api.ts'
import { overviewEn } from '#src/admin-ui/i18n/overview.en.ts'
import { overviewRu } from '#src/admin-ui/i18n/overview.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'

export const overviewWords = catalogue({ en: overviewEn, ru: overviewRu })

export type Stats = Answer<typeof api.stats.$get>
export type ActiveStats = Answer<typeof api.stats.active.$get>
export type DayStats = Answer<typeof api.stats.series.$get>[number]
export type NodeRow = Answer<typeof api.nodes.$get>[number]
