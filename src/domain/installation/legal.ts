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
import type { LiveKey } from '#src/live-keys.ts'
import type { Services } from '#src/services.ts'

/** What an admin edits of them. */
export const LEGAL_KEYS = [
  'LEGAL_NAME',
  'LEGAL_INN',
  'REFUND_HOURS',
  'SUPPORT_CONTACT',
  'SUPPORT_EMAIL',
] as const satisfies LiveKey[]

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
  { domains, currency }: Pick<Config, 'domains' | 'currency'>,
  settings: Settings,
): Map<string, string> {
  const keys = [...LEGAL_KEYS, 'BRAND_NAME', 'OFFER_EFFECTIVE_DATE'] as const
  return new Map([
    ...keys.map((key) => [key, settings.text(key)] as const),
    ['BOT_USERNAME', botName(settings.text('BOT_USERNAME'))],
    ['SITE_DOMAIN', domains.site],
    ['SUB_DOMAIN', domains.sub],
    ['CURRENCY', currency],
  ])
}
