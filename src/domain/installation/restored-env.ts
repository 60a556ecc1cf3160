/** What a restore takes over from the env file of a backup: live settings and a few named ones, never this machine's own. */
import * as v from 'valibot'
import { instanceId } from '#db/values.ts'
import { listEnvLines, parseEnvFile, removeEnvLines, setEnvLine } from '#src/lib/env-file.ts'
import type { LiveSetting } from '#src/settings/setting.ts'
import { RESTORED } from '#src/settings/start.ts'
import { leadingOf, type SettingsTable } from '#src/settings/table.ts'
import { isSettingValue, type Known } from './setting-values.ts'

const MAX_VALUE = 4096
const MAX_NAMED = 100
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\0-\x1f\x7f]/

/** Whether a text can be the id of an instance: it goes into env files and to nodes. */
export const isInstanceId = (text: string): boolean => v.is(instanceId, text)

/** The rows of `settings` that come back with a restore: live ones, with values that the panel would have taken. */
export function acceptedRows(known: Known, rows: { key: string; value: string }[]): Set<string> {
  const sound = new Set(
    rows.filter(({ key, value }) => isSettingValue(known, key, value)).map(({ key }) => key),
  )
  for (const [key, secret] of leadingOf(known.settings)) if (!sound.has(secret)) sound.delete(key)
  return sound
}

/** What a restore knows beside the two env files. */
export interface Surroundings {
  settings: SettingsTable
  /** The settings that come back as rows: they win over every environment. */
  rows: ReadonlySet<string>
  /** The live keys of the process's environment: they win over the env file. */
  fixed: ReadonlySet<string>
}

/** Names as an answer lists them: sorted, each once, bounded. */
export const nameKeys = (keys: string[]): string[] =>
  [...new Set(keys.map((key) => key.slice(0, 64)))].sort().slice(0, MAX_NAMED)

export interface MergedEnv {
  text: string
  /** Keys of the backup that were not taken and differ from this machine's. */
  dropped: string[]
  /** Changed keys that count from the next start. */
  restartNeeded: string[]
  /** Keys that the backup's env file lacks, so that this machine's values go on: the backup may have run with others. */
  kept: string[]
}

const DOMAINS = ['SUB_DOMAIN', 'SITE_DOMAIN', 'PANEL_DOMAIN']

/**
 * Whether our scheme goes with our domains: the first start on a machine without any writes `http` beside the names that it makes
 * up, and a backup that brings real ones and no scheme ran on the default, https.
 */
const losesScheme = (own: Record<string, string>, given: Set<string>, taken: Map<string, string>) =>
  own.PUBLIC_SCHEME === 'http' &&
  !given.has('PUBLIC_SCHEME') &&
  DOMAINS.some((key) => taken.get(key))

/** Whether a start would take a value of the backup's env file; what leads a secret, whether a row might hold it too. */
function isAcceptable({ start, value, leads }: Partial<LiveSetting>, given: string): boolean {
  const text = given.trim()
  if (text === '') return true
  if (start && !v.is(start, text)) return false
  return leads === undefined || (value !== undefined && v.is(value, text))
}

/** The settings of a backup's env file that are taken, and the names of those that are not. */
function sort(
  own: Record<string, string>,
  lines: ReturnType<typeof listEnvLines>,
  { settings, rows, fixed }: Surroundings,
) {
  const times = new Map<string, number>()
  for (const [key] of lines) times.set(key, (times.get(key) ?? 0) + 1)
  const isSound = (key: string, value: string | null): value is string =>
    value !== null && times.get(key) === 1 && value.length <= MAX_VALUE && !CONTROL.test(value)
  const taken = new Map<string, string>()
  const dropped: string[] = []
  const brings = (secret: string) =>
    lines.some(([key, value]) => key === secret && isSound(key, value) && value !== '')
  const leading = leadingOf(settings)
  /** Whether nothing of ours is sent where it says. */
  const isHarmless = (key: string) => {
    const secret = leading.get(key)
    return secret === undefined || rows.has(secret) || (brings(secret) && !fixed.has(secret))
  }
  for (const [key, value] of lines) {
    const setting = settings.all.get(key) ?? RESTORED.get(key)
    if (!isSound(key, value)) dropped.push(key)
    else if (setting && isAcceptable(setting, value) && isHarmless(key)) {
      taken.set(key, value)
    } else if (own[key] !== value && key !== 'INSTANCE_ID') dropped.push(key)
  }
  return { taken, dropped }
}

/**
 * The env file of this machine with the settings of the backup's, whose live keys replace all of ours. Keys that come twice, hold
 * control characters, are unknown, would stop a start, or would lead a secret away that they do not bring are dropped: what this machine has of them stays. So does what counts from
 * a start and the backup lacks: where it ran, the process's environment may have had it. Null: the backup has no env file.
 */
export function mergeEnv(
  present: string,
  uploaded: string | null,
  surroundings: Surroundings,
): MergedEnv {
  if (uploaded === null) return { text: present, dropped: [], restartNeeded: [], kept: [] }
  const own = parseEnvFile(present)
  const lines = listEnvLines(uploaded)
  const { taken, dropped } = sort(own, lines, surroundings)
  const given = new Set(lines.map(([key]) => key))
  let text = present
  for (const key of surroundings.settings.all.keys())
    if (!given.has(key)) text = removeEnvLines(text, key)
  for (const [key, value] of taken) text = setEnvLine(text, key, value)
  const schemeLost = losesScheme(own, given, taken)
  if (schemeLost) text = removeEnvLines(text, 'PUBLIC_SCHEME')
  const startKeys = [...RESTORED.keys()]
  const restartNeeded = startKeys.filter(
    (key) =>
      (taken.has(key) && (taken.get(key) ?? '') !== (own[key] ?? '')) ||
      (schemeLost && key === 'PUBLIC_SCHEME'),
  )
  const kept = startKeys.filter(
    (key) => !given.has(key) && own[key] && !(schemeLost && key === 'PUBLIC_SCHEME'),
  )
  return { text, dropped: nameKeys(dropped), restartNeeded, kept }
}
