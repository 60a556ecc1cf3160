/** What all connection lists share — nodes, plans, settings — kept while its revision in the database stands. */

import { keptTemplates } from '#db/list-templates.ts'
import {
  listMembers,
  listNodeGroups,
  type Members,
  nodesOf,
  type PlacedClient,
} from '#db/node-groups.ts'
import { keptHosts } from '#db/node-hosts.ts'
import { keptNodes } from '#db/nodes.ts'
import { listPlans } from '#db/plans.ts'
import {
  isSetUp,
  type Node,
  type NodeGroup,
  type NodeHost,
  type Plan,
  type TrafficPack,
} from '#db/schema/index.ts'
import { listPacks } from '#db/traffic-packs.ts'
import {
  type Sound,
  type SoundNode,
  soundNode,
  soundPlanLabel,
  soundRow,
} from '#src/domain/nodes/sound.ts'
import { readSettings, type Settings } from '#src/domain/settings.ts'
import { botLink } from '#src/lib/bot-link.ts'
import { MINUTE_MS, timestampBefore } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import type { App } from '#src/settings/app-catalogue.ts'
import { agentWordsIn } from '#src/settings/list-settings.ts'
import { readApps } from './apps.ts'
import type { ListFormat } from './formats.ts'
import { sharedListHeaders } from './headers.ts'
import type { Routing } from './routing.ts'
import { routingReader } from './rules.ts'
import { isBefore } from './singbox.ts'
import { keptTemplate, type Template } from './template.ts'

type Deps = Pick<Services, 'db' | 'config' | 'ruleFiles'>

export interface Catalogue {
  revision: number
  nodes: Map<string, Node>
  plans: Map<string, Plan>
  packs: Map<string, TrafficPack>
  groups: Map<string, NodeGroup>
  members: Members
  settings: Settings
  /** A node as lists show it: the same object while the catalogue stands. Throws for one that is not sound. */
  listed(code: string): SoundNode | undefined
  /** The hosts of a node that are switched on, in their order; undefined for none. Throws for one that is not sound. */
  hostsOf(code: string): readonly Sound<NodeHost>[] | undefined
  /** The codes of the nodes that a list has of a subscription at a time, in its order. */
  nodesOf(subscription: Pick<PlacedClient, 'node' | 'nodeGroup'>, now: Date): readonly string[]
  /** What lists call a plan; its code where it is gone. Throws for a label that is not sound. */
  planLabel(code: string): Sound<string>
  /** The client apps that are offered. */
  apps: readonly App[]
  /** Words of the User-Agents that get Xray JSON in place of links. */
  jsonAgents: readonly string[]
  /** The preset of a list of these subscriptions; null for none, and for one whose rule files can't be had. */
  routingOf(subscriptions: readonly { nodeGroup: string | null }[]): Routing | null
  /** What the operator has in place of our own list in this format; undefined for nothing, and for what can't be used. */
  templateFor(format: ListFormat, singboxVersion: string | null): Template | undefined
  /** Where a customer asks people for help: an address of the web or of mail, or null. */
  helpUrl: string | null
  /** The headers that all lists have alike. */
  listHeaders: Record<string, string>
}

/** The support contact when it is an address of the web or an account. */
function contactUrl(s: Deps, settings: Settings): string | null {
  const contact = settings.text('SUPPORT_CONTACT')
  if (/^https?:\/\//i.test(contact)) return contact
  return contact.startsWith('@') ? botLink(s.config.botLinkBase, contact) : null
}

/** Where a customer finds help: the support contact, else the bot. */
const supportUrl = (s: Deps, settings: Settings): string =>
  contactUrl(s, settings) ?? botLink(s.config.botLinkBase, settings.text('BOT_USERNAME')) ?? ''

const MAIL = /^[^\s@<>"'?&%#/:]+@[^\s@<>"'?&%#/:]+$/

/** Where a customer asks people: the support contact, else the support's mail. */
function helpUrl(s: Deps, settings: Settings): string | null {
  const texts = [settings.text('SUPPORT_CONTACT'), settings.text('SUPPORT_EMAIL')]
  const mail = texts.find((text) => MAIL.test(text))
  return contactUrl(s, settings) ?? (mail === undefined ? null : `mailto:${mail}`)
}

/** What lists call plans, each looked at when it is first asked for. */
function listedPlans(plans: Map<string, Plan>): Catalogue['planLabel'] {
  const labels = new Map<string, Sound<string>>()
  return (code) => {
    const label = labels.get(code) ?? soundPlanLabel(plans.get(code)?.label ?? code)
    labels.set(code, label)
    return label
  }
}

/** The hosts of nodes, each looked at when its node's are first asked for. */
function listedHosts(s: Deps): Catalogue['hostsOf'] {
  const perNode = Map.groupBy(keptHosts(s.db), ({ node }) => node)
  const sound = new Map<string, readonly Sound<NodeHost>[]>()
  return (code) => {
    const rows = perNode.get(code)
    if (!rows) return undefined
    const known = sound.get(code) ?? rows.map((row) => soundRow('node_hosts', row))
    sound.set(code, known)
    return known
  }
}

/** A member that has been down for so long leaves lists where its group hides such. */
const HIDDEN_AFTER_MS = 10 * MINUTE_MS

/** Those of which something holds; all where it holds of none. */
function unlessNone(codes: readonly string[], holds: (code: string) => boolean) {
  const found = codes.filter(holds)
  return found.length === 0 ? codes : found
}

/** The nodes of subscriptions as lists have them: without members that were never set up or are hidden, unless all are. */
function listedNodes(
  nodes: Map<string, Node>,
  groups: Map<string, NodeGroup>,
  members: Members,
): Catalogue['nodesOf'] {
  return (subscription, now) => {
    const own = nodesOf(members, subscription)
    if (own.length === 1) return own
    const setUp = unlessNone(own, (code) => {
      const node = nodes.get(code)
      return node === undefined || isSetUp(node)
    })
    if (!groups.get(subscription.nodeGroup ?? '')?.hideDown) return setUp
    const since = timestampBefore(now, HIDDEN_AFTER_MS)
    return unlessNone(setUp, (code) => {
      const downSince = nodes.get(code)?.downSince ?? null
      return downSince === null || downSince > since
    })
  }
}

/** The preset of lists: that of the first group which has one of its own, else that of the settings. */
function listedRouting(
  s: Deps,
  settings: Settings,
  groups: Map<string, NodeGroup>,
): Catalogue['routingOf'] {
  const read = routingReader(s, settings)
  const isOwn = (group: NodeGroup | undefined) =>
    group !== undefined && (group.routingPreset !== null || group.routingAds !== null)
  return (subscriptions) => {
    if (subscriptions.length === 0) return null
    const own = subscriptions.map(({ nodeGroup }) => groups.get(nodeGroup ?? '')).find(isOwn)
    return read(own)
  }
}

/** Templates of lists. sing-box has read what they are written in since 1.12. */
function listedTemplates(s: Deps): Catalogue['templateFor'] {
  const usable = keptTemplates(s.db).flatMap((row) => {
    const kept = keptTemplate(row)
    return 'fault' in kept ? [] : [[row.format, kept] as const]
  })
  const templates = new Map<ListFormat, Template>(usable)
  return (format, singboxVersion) =>
    isBefore(12, singboxVersion) ? undefined : templates.get(format)
}

function readCatalogue(s: Deps, revision: number): Catalogue {
  const nodes = new Map(keptNodes(s.db).map((node) => [node.code, node]))
  const plans = new Map(listPlans(s.db).map((plan) => [plan.code, plan]))
  const packs = new Map(listPacks(s.db).map((pack) => [pack.code, pack]))
  const groups = new Map(listNodeGroups(s.db).map((group) => [group.code, group]))
  const members = listMembers(s.db)
  const settings = readSettings(s)
  return {
    revision,
    nodes,
    plans,
    packs,
    groups,
    members,
    settings,
    listed(code) {
      const node = nodes.get(code)
      return node && soundNode(node)
    },
    hostsOf: listedHosts(s),
    nodesOf: listedNodes(nodes, groups, members),
    planLabel: listedPlans(plans),
    apps: readApps(settings),
    jsonAgents: agentWordsIn(settings.text('XRAY_JSON_AGENTS')),
    routingOf: listedRouting(s, settings, groups),
    templateFor: listedTemplates(s),
    helpUrl: helpUrl(s, settings),
    listHeaders: sharedListHeaders(settings.text('BRAND_NAME'), supportUrl(s, settings)),
  }
}

/** A reader that answers from memory while `revision` (users.ts reads it with the user) is unchanged. */
export function createCatalogue(s: Deps): (revision: number) => Catalogue {
  let kept: Catalogue | null = null
  return (revision) => {
    if (kept?.revision === revision) return kept
    // The revision is read first: what follows can only be newer, and is then read again at the next call.
    kept = readCatalogue(s, s.db.revision())
    return kept
  }
}
