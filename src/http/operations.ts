/** Every operation of the service, by the hosts that serve it. */
import type { Config } from '#src/config.ts'
import { allOperations } from './admin/operations.ts'
import type { Context, Http } from './context.ts'
import { installOperations } from './install.ts'
import { openOperations, operation, type ServedOperation, TAGS } from './operation.ts'
import { panelOperations } from './panel.ts'
import { ruleOperations } from './rules.ts'
import { ok } from './schemas/fields.ts'
import { guestOperations, shopOperations } from './shop.ts'
import { assetOperations, homeOperations, landing, siteOperations } from './site.ts'
import { linkOperations } from './sub.ts'
import { noticeOperations } from './webhooks.ts'

type Settings = Pick<Config, 'adminPath' | 'gateways' | 'settings'>
type Home = (s: Http, c: Context) => Response | Promise<Response>

const health = openOperations('Service', [
  operation(
    {
      method: 'get',
      path: '/healthz',
      open: 'public',
      summary: 'Whether the service answers',
      ok,
    },
    () => ({ ok: true as const }),
  ),
])

/** Hosts by what they serve. `all`: each of them; `admin`: those of the panel, behind the check of who asks. */
type Group = 'all' | 'sub' | 'site' | 'panel' | 'admin'

/** In the order of the description, as far as they share a tag; `home` answers `GET /`. */
const table = (config: Settings, home: Home): [Group, ServedOperation[]][] => [
  ['admin', allOperations(config)],
  ['site', shopOperations],
  ['site', guestOperations],
  ['all', noticeOperations(config.gateways)],
  ['sub', linkOperations],
  ['sub', ruleOperations],
  ['all', homeOperations(home)],
  ['site', siteOperations],
  ['all', assetOperations],
  ['all', health],
  ['panel', installOperations],
  ['panel', panelOperations(config.adminPath)],
]

/** What a host with these groups serves, its `GET /` included. */
export const operationsOf = (settings: Settings, home: Home, groups: Group[]): ServedOperation[] =>
  table(settings, home).flatMap(([group, list]) => (groups.includes(group) ? list : []))

/** All of them by tag. */
export function listOperations(settings: Settings): ServedOperation[] {
  const all = table(settings, landing).flatMap(([, list]) => list)
  return TAGS.flatMap((tag) => all.filter((one) => one.tag === tag))
}
