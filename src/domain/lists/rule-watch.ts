/** The rule files of presets as an admin and a job ask for them: a preset is chosen only while they can be had, and a loss is told of. */
import { listNodeGroups } from '#db/node-groups.ts'
import { isAlertOpen } from '#db/open-alerts.ts'
import type { Actor } from '#src/domain/audit.ts'
import { alertState } from '#src/domain/notify/alerts.ts'
import { readSettings, readSettingsIn, type Settings, writeSettings } from '#src/domain/settings.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { isTrue } from '#src/settings/kinds.ts'
import { ruleFilesOf } from './routing.ts'
import {
  chosen,
  foreignAddress,
  missingFiles,
  neededFiles,
  type OwnRouting,
  type RuleDeps,
} from './rules.ts'

type Deps = RuleDeps & Pick<Services, 'clock'>

const refuseMissing = (missing: string[]) => {
  if (missing.length > 0) throw refusal('rule-files-missing', { files: missing.join(', ') })
}

const NO_ROUTING: OwnRouting = { routingPreset: null, routingAds: null }

/** Throws 400 unless the files can be had of a preset that a group is to have; `present`: what it has now. */
export async function requireGroupRules(
  s: RuleDeps,
  own: Partial<OwnRouting>,
  present: OwnRouting = NO_ROUTING,
): Promise<void> {
  if (own.routingPreset == null && own.routingAds == null) return
  const settings = readSettings(s)
  const { routingPreset, routingAds } = { ...present, ...own }
  const preset = chosen(settings, { routingPreset, routingAds })
  if (preset) refuseMissing(await s.ruleFiles.look(ruleFilesOf(preset), foreignAddress(settings)))
}

const ROUTING_KEYS = ['ROUTING_PRESET', 'ROUTING_ADS', 'RULESET_BASE_URL'] as const

type Rows = Record<string, string>

/** The settings as they are with some rows. */
function withRows(settings: Settings, rows: Rows): Settings {
  const text: Settings['ofGateway'] = (key) => rows[key] ?? settings.ofGateway(key)
  return { ...settings, text, flag: (key) => isTrue(text(key)) }
}

/**
 * Saves what an admin has changed of lists. Throws 400 for a preset whose rule files can't be had; they are asked for outside of the
 * transaction, which asks again where the settings have become others meanwhile.
 */
export async function saveListSettings(s: Deps, actor: Actor, rows: Rows): Promise<void> {
  const concerns = ROUTING_KEYS.some((key) => rows[key] !== undefined)
  const stateOf = (settings: Settings) => ROUTING_KEYS.map((key) => settings.text(key)).join(' ')
  for (;;) {
    const before = readSettings(s)
    const next = withRows(before, rows)
    const groups = listNodeGroups(s.db)
    // What is missed already is no reason to refuse what takes some of it away.
    const isSamePlace = foreignAddress(before) === foreignAddress(next)
    const had = isSamePlace ? neededFiles(before, groups) : []
    const needed = concerns ? neededFiles(next, groups).filter((name) => !had.includes(name)) : []
    refuseMissing(await s.ruleFiles.look(needed, foreignAddress(next)))
    const at = formatTimestamp(s.clock.now())
    const isSaved = await s.db.tx(function* (tx) {
      const now = withRows(yield* readSettingsIn(tx, s), rows)
      if (concerns && stateOf(now) !== stateOf(next)) return false
      yield* writeSettings(tx, actor, at, rows)
      return true
    })
    if (isSaved) return
  }
}

const STATE = 'rules'

/** Looks at the rule files that lists need, and says once when some can't be had, and once when they can again. */
export async function watchRules(s: Deps): Promise<void> {
  const settings = readSettings(s)
  const files = missingFiles(s, settings)
  const begins = files.length > 0
  if ((await s.db.read((q) => isAlertOpen(q, STATE))) === begins) return
  const at = formatTimestamp(s.clock.now())
  const isNeeded = neededFiles(settings, listNodeGroups(s.db)).length > 0
  const back = isNeeded ? ({ about: 'rules-back' } as const) : null
  await s.db.tx((tx) =>
    alertState(tx, s, at, {
      name: STATE,
      begins,
      alert: begins ? { about: 'rules-missing', files: files.join(', ') } : back,
    }),
  )
}
