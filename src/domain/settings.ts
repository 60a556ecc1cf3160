/** Live settings: a row wins over the environment, the environment over the default. Read at call time. */
import { listSettings, putSetting } from '#db/settings.ts'
import type { LiveKey } from '#src/config.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { type Actor, audit } from './audit.ts'

type Deps = Pick<Services, 'db' | 'config'>

const DEFAULTS: Partial<Record<LiveKey, string>> = {
  BRAND_NAME: 'Subpanel',
  BRAND_HUE: '255',
  HWID_FALLBACK_LIMIT: '5',
  PROVIDER_B_PRESET: 'platega',
  RECEIPT_MODE: 'off',
}

/** The value of every live key; an absent one is the empty string. */
export interface Settings {
  text(key: LiveKey): string
  flag(key: LiveKey): boolean
  /** The integer of a key, or its default where the stored text is none. */
  int(key: LiveKey): number
}

const TRUE = new Set(['1', 'true', 'yes', 'on'])

/** All live settings as they are now. */
export function readSettings(s: Deps): Settings {
  const rows = new Map(listSettings(s.db).map((row) => [row.key, row.value]))
  const text = (key: LiveKey) => rows.get(key) ?? s.config.live[key] ?? DEFAULTS[key] ?? ''
  return {
    text,
    flag: (key) => TRUE.has(text(key).toLowerCase()),
    int: (key) => (/^\d{1,9}$/.test(text(key)) ? Number(text(key)) : Number(DEFAULTS[key] ?? 0)),
  }
}

/** Writes live settings as rows, noting their names in the audit log. */
export async function saveSettings(
  s: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  values: Partial<Record<LiveKey, string>>,
): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    for (const [key, value] of Object.entries(values)) yield* putSetting(tx, key, value)
    yield* audit(tx, actor, now, {
      action: 'settings.change',
      object: Object.keys(values).join(' '),
    })
  })
}
