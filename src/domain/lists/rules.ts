/** The rule files of presets: which are needed, and whether they can be had. A preset whose files can't is none. */
import { listNodeGroups } from '#db/node-groups.ts'
import type { NodeGroup } from '#db/schema/index.ts'
import type { Settings } from '#src/domain/settings.ts'
import { type Country, presetIn } from '#src/lib/routing-presets.ts'
import type { Services } from '#src/services.ts'
import { type Routing, ruleFilesOf } from './routing.ts'

export type RuleDeps = Pick<Services, 'db' | 'config' | 'ruleFiles'>

/** What a group says of routing in place of the settings; null: nothing. */
export type OwnRouting = Pick<NodeGroup, 'routingPreset' | 'routingAds'>

/** Where our own rule files are. */
const ownAddress = ({ config }: Pick<RuleDeps, 'config'>): string =>
  `${config.publicScheme}://${config.domains.sub}/rules`

/** The address of rule files, without a slash at its end; null: our own. */
export function foreignAddress(settings: Pick<Settings, 'text'>): string | null {
  const address = settings.text('RULESET_BASE_URL').replace(/\/+$/, '')
  return address === '' ? null : address
}

interface Chosen {
  country: Country
  ads: boolean
}

/** The preset of the settings, with what a group has of its own in place of theirs; null for none. */
export function chosen(settings: Settings, own?: OwnRouting): Chosen | null {
  const preset = presetIn(own?.routingPreset ?? settings.text('ROUTING_PRESET'))
  if (preset === 'off') return null
  return { country: preset, ads: own?.routingAds ?? settings.flag('ROUTING_ADS') }
}

/** A reader of the preset of a list. */
export function routingReader(
  s: RuleDeps,
  settings: Settings,
): (own?: OwnRouting) => Routing | null {
  const address = foreignAddress(settings)
  const rulesUrl = address ?? ownAddress(s)
  return (own) => {
    const preset = chosen(settings, own)
    if (preset === null || s.ruleFiles.missing(ruleFilesOf(preset), address).length > 0) return null
    return { ...preset, rulesUrl }
  }
}

/** The files that some list needs. */
export function neededFiles(settings: Settings, groups: readonly OwnRouting[]): string[] {
  const all = [undefined, ...groups].flatMap((own) => {
    const preset = chosen(settings, own)
    return preset === null ? [] : ruleFilesOf(preset)
  })
  return [...new Set(all)]
}

/** Those of them that can't be had, so that what needs them is without its preset. */
export const missingFiles = (s: RuleDeps, settings: Settings): string[] =>
  s.ruleFiles.missing(neededFiles(settings, listNodeGroups(s.db)), foreignAddress(settings))
