/** Words of traffic, on its screen and on the card of a node. */
import { trafficEn } from '#src/admin-ui/i18n/traffic.en.ts'
import { trafficRu } from '#src/admin-ui/i18n/traffic.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'

export const trafficTexts = catalogue({ en: trafficEn, ru: trafficRu })
