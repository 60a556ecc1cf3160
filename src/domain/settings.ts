/** Live settings: a row wins over the environment, the environment over the default. Read at call time. */
import type { Query, Reading } from '#db/engine/database.ts'
import { getInstance, readInstance } from '#db/instance.ts'
import { deleteSetting, listSettings, putSetting, readAllSettings } from '#db/settings.ts'
import type { Config, LiveTexts } from '#src/config.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { GatewayDescriptor, ReadSetting } from '#src/ports/payment-gateway.ts'
import type { Services } from '#src/services.ts'
import { isTrue, readNumber } from '#src/settings/kinds.ts'
import type { LiveKey } from '#src/settings/live.ts'
import { type Actor, audit } from './audit.ts'

type Deps = Pick<Services, 'db' | 'config'>

/** The value of every live setting; an absent one is the empty string. */
export interface Settings {
  text(key: LiveKey): string
  flag(key: LiveKey): boolean
  /** The integer of a key, or its default where the stored text is none. */
  int(key: LiveKey): number
  gateways: readonly GatewayDescriptor[]
  /** The same for a setting of whatever name. */
  ofGateway: ReadSetting
  /** What the environment has of them, over which rows win. */
  live: LiveTexts
}

interface Environment {
  generation: string | null
  live: LiveTexts
}

/** What the database says of the last restore. */
type Restored = Pick<ReturnType<typeof getInstance>, 'generation' | 'pendingEnv'>

/** What of the env file counts in this process since it was read last. */
const environments = new WeakMap<Config, Environment>()

/**
 * What the environment has. The env file is read anew when the generation is another than the last time, as a restore has changed it;
 * `pendingEnv`: what it is about to hold, where that is not written yet.
 */
function environmentOf(config: Config, { generation, pendingEnv }: Restored) {
  const kept = environments.get(config) ?? { generation: null, live: config.live }
  if (kept.generation === generation) return kept.live
  const live = config.readLive(pendingEnv ?? undefined)
  environments.set(config, { generation, live })
  return live
}

type Rows = ReturnType<typeof listSettings>

function settingsOf(config: Config, stored: Rows, restored: Restored): Settings {
  const rows = new Map(stored.map((row) => [row.key, row.value]))
  const live = environmentOf(config, restored)
  const { all } = config.settings
  const fallbackOf = (key: string) => all.get(key)?.fallback ?? ''
  const text = (key: string) => rows.get(key) ?? live[key] ?? fallbackOf(key)
  return {
    text,
    gateways: config.gateways,
    ofGateway: text,
    live,
    flag: (key) => isTrue(text(key)),
    int: (key) => readNumber(text(key), fallbackOf(key)),
  }
}

/** What was made of the rows that the database keeps in memory. */
const made = new WeakMap<Rows, { config: Config; settings: Settings }>()

/**
 * All live settings as they are now: from memory, while the revision of the database stands, of which alone the database is asked.
 * Not for the bodies of transactions, which may be undone: `readSettingsIn`.
 */
export function readSettings({ db, config }: Deps): Settings {
  const rows = listSettings(db)
  const known = made.get(rows)
  if (known?.config === config) return known.settings
  const settings = settingsOf(config, rows, getInstance(db))
  made.set(rows, { config, settings })
  return settings
}

/** The same inside a transaction, for what is decided by them there. */
export function* readSettingsIn(tx: Reading, s: Pick<Services, 'config'>) {
  return settingsOf(s.config, yield* readAllSettings(tx), yield* readInstance(tx))
}

/** New values; null takes the row away, so that the environment's value or the default counts again. */
export type LiveValues = Partial<Record<LiveKey, string | null>>
/** The same by whatever names. */
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
  values: LiveValues | GatewayValues,
): Promise<void> {
  const at = formatTimestamp(s.clock.now())
  await s.db.tx((tx) => writeSettings(tx, actor, at, values))
}
