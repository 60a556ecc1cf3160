/** Live settings: a row wins over the environment, the environment over the default. Read at call time. */
import type { Query } from '#db/engine/database.ts'
import { ENV_GENERATION, PENDING_ENV } from '#db/own-settings.ts'
import { deleteSetting, listSettings, putSetting, readAllSettings } from '#db/settings.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { LiveKey } from '#src/live-keys.ts'
import type { GatewayDescriptor, ReadSetting } from '#src/ports/payment-gateway.ts'
import type { Services } from '#src/services.ts'
import { type Actor, audit } from './audit.ts'

type Deps = Pick<Services, 'db' | 'config'>

const DEFAULTS: Partial<Record<LiveKey, string>> = {
  BRAND_NAME: 'Subpanel',
  BRAND_HUE: '255',
  HWID_FALLBACK_LIMIT: '5',
  RECEIPT_MODE: 'off',
  VAT_CODE: '1',
}

/** The value of every live key; an absent one is the empty string. */
export interface Settings {
  text(key: LiveKey): string
  flag(key: LiveKey): boolean
  /** The integer of a key, or its default where the stored text is none. */
  int(key: LiveKey): number
  gateways: readonly GatewayDescriptor[]
  /** The same for a setting that a gateway reads: one of its own, or of the bot's. */
  ofGateway: ReadSetting
}

const TRUE = new Set(['1', 'true', 'yes', 'on'])

/** Whether the text of a switch means that it is on. */
export const isTrue = (text: string): boolean => TRUE.has(text.toLowerCase())

function settingsOf(config: Deps['config'], stored: { key: string; value: string }[]): Settings {
  const rows = new Map(stored.map((row) => [row.key, row.value]))
  config.refreshLive(rows.get(ENV_GENERATION), rows.get(PENDING_ENV))
  const { gateways, live } = config
  const text = (key: LiveKey) => rows.get(key) ?? live[key] ?? DEFAULTS[key] ?? ''
  const fallbackOf = (key: string) =>
    gateways.flatMap(({ settings }) => settings).find((one) => one.key === key)?.fallback
  return {
    text,
    gateways,
    ofGateway: (key) => rows.get(key) ?? live[key] ?? fallbackOf(key) ?? '',
    flag: (key) => isTrue(text(key)),
    int: (key) => (/^\d{1,9}$/.test(text(key)) ? Number(text(key)) : Number(DEFAULTS[key] ?? 0)),
  }
}

/** All live settings as they are now. */
export const readSettings = (s: Deps): Settings => settingsOf(s.config, listSettings(s.db))

/** The same inside a transaction, for what is decided by them there. */
export function* readSettingsIn(tx: Query, s: Pick<Services, 'config'>) {
  return settingsOf(s.config, yield* readAllSettings(tx))
}

/** New values; null takes the row away, so that the environment's value or the default counts again. */
export type LiveValues = Partial<Record<LiveKey, string | null>>
/** The same of a gateway's settings. */
export type GatewayValues = Record<string, string | null>

/** Writes live settings as rows, noting their names in the audit log. */
export function* writeSettings(
  tx: Query,
  actor: Actor,
  at: string,
  values: LiveValues | GatewayValues,
) {
  for (const [key, value] of Object.entries(values)) {
    if (value === null) yield* deleteSetting(tx, key)
    else yield* putSetting(tx, key, value)
  }
  yield* audit(tx, actor, at, { action: 'settings.change', object: Object.keys(values).join(' ') })
}

/** The same in a transaction of its own. */
export async function saveSettings(
  s: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  values: LiveValues,
): Promise<void> {
  const at = formatTimestamp(s.clock.now())
  await s.db.tx((tx) => writeSettings(tx, actor, at, values))
}
