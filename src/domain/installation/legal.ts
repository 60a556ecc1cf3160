/** The legal pages: what fills their templates, and the settings behind it. */
import type { Config } from '#src/config.ts'
import type { Actor } from '#src/domain/audit.ts'
import {
  type LiveValues,
  readSettingsIn,
  type Settings,
  writeSettings,
} from '#src/domain/settings.ts'
import { botName } from '#src/lib/bot-link.ts'
import { formatDay, formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

/** Saves legal settings. The first time it also sets the date of the offer, which no later change moves. */
export async function saveLegalSettings(
  s: Pick<Services, 'db' | 'clock' | 'config'>,
  actor: Actor,
  values: LiveValues,
): Promise<void> {
  const now = s.clock.now()
  await s.db.tx(function* (tx) {
    const dated = (yield* readSettingsIn(tx, s)).text('OFFER_EFFECTIVE_DATE') !== ''
    const date = { OFFER_EFFECTIVE_DATE: formatDay(s.config.timezone, now) }
    yield* writeSettings(tx, actor, formatTimestamp(now), dated ? values : { ...values, ...date })
  })
}

/** The tokens that templates may use, by name. Nothing else of the settings can be put on a page. */
export function legalTokens(
  { domains, currency, settings: { own } }: Pick<Config, 'domains' | 'currency' | 'settings'>,
  settings: Settings,
): Map<string, string> {
  const legal = own.filter(({ field }) => field?.form === 'legal')
  return new Map([
    ...legal.map(({ key }) => [key, settings.ofGateway(key)] as const),
    ['BRAND_NAME', settings.text('BRAND_NAME')],
    ['BOT_USERNAME', botName(settings.text('BOT_USERNAME'))],
    ['SITE_DOMAIN', domains.site],
    ['SUB_DOMAIN', domains.sub],
    ['CURRENCY', currency],
  ])
}
