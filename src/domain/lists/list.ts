/** The connection list of a user, written anew for each fetch: what users share is kept, what is one user's own takes microseconds. */
import type { ActiveOfUser, ListOwner } from '#db/users.ts'
import { endFromNow, isWaiting, periodEnd } from '#src/domain/delayed-start.ts'
import { soundUuid } from '#src/domain/nodes/sound.ts'
import { allowanceOf, refillOf } from '#src/domain/quotas.ts'
import { subLink } from '#src/lib/sub-link.ts'
import {
  addDays,
  ENDLESS,
  formatDay,
  formatTimestamp,
  parseTimestamp,
  SECOND_MS,
} from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import type { Catalogue } from './catalogue.ts'
import { type ListSource, listEntries } from './entries.ts'
import { encodeList, type ListFormat, writeList } from './formats.ts'
import { ownListHeaders } from './headers.ts'
import { type Routing, routingHeader } from './routing.ts'
import { createSharedLists } from './shared-lists.ts'

type Deps = Pick<Services, 'config'>

/** How a client wants its list. */
export interface ListVariant {
  format: ListFormat
  /** The User-Agent in lower case. */
  agent: string
  /** Whether links may be written as Xray JSON where the settings want it of the agent. */
  mayBeJson: boolean
  singboxVersion: string | null
  wsAndXhttp: boolean
}

export interface RenderedList {
  body: string
  headers: Record<string, string>
}

/** The expiry is announced this long before. */
const ANNOUNCE_DAYS = 3

function sourcesOf(subscriptions: ActiveOfUser[], catalogue: Catalogue, now: Date): ListSource[] {
  const sources: ListSource[] = []
  for (const subscription of subscriptions) {
    const { uuid, plan } = subscription
    for (const code of catalogue.nodesOf(subscription, now)) {
      const node = catalogue.listed(code)
      if (!node) continue
      const hosts = catalogue.hostsOf(code)
      sources.push({ uuid: soundUuid(uuid), planLabel: catalogue.planLabel(plan), node, hosts })
    }
  }
  return sources
}

/**
 * Traffic of all subscriptions, or, where each has a quota, how much of these is used; `refill`: when the first period ends of them.
 */
function trafficOf(subscriptions: ActiveOfUser[], { upload, download }: Totals, now: string) {
  let total = 0
  let used = 0
  let refill = ''
  for (const subscription of subscriptions) {
    const { quotaBytes, usedBytes } = subscription
    const resetsAt = periodEnd(subscription, now)
    if (quotaBytes === null) return { upload, download, total: 0, refill: null }
    total += allowanceOf(subscription)
    used += usedBytes
    if (resetsAt !== null && (refill === '' || resetsAt < refill)) refill = resetsAt
  }
  if (total === 0) return { upload, download, total: 0, refill: null }
  return { upload: 0, download: used, total, refill: refill === '' ? null : refill }
}

interface Totals {
  upload: number
  download: number
  nearest: string
  latest: string
  waiting: boolean
}

/**
 * Traffic of all subscriptions, and their nearest and latest expiry; empty strings without subscriptions. What waits for its first use ends
 * as if that were now, and never soon.
 */
function totals(subscriptions: ActiveOfUser[], now: string): Totals {
  let upload = 0
  let download = 0
  let nearest = ''
  let latest = ''
  let waiting = false
  for (const one of subscriptions) {
    upload += one.upBytes
    download += one.downBytes
    const waits = isWaiting(one, now)
    const end = waits ? endFromNow(one, now) : one.expiresAt
    if (end > latest) latest = end
    if (waits) waiting = true
    else if (nearest === '' || end < nearest) nearest = end
  }
  return { upload, download, nearest, latest, waiting }
}

function announcement(s: Deps, nearest: string): string {
  const day = formatDay(s.config.timezone, parseTimestamp(nearest))
  return s.config.defaultLang === 'ru'
    ? `Подписка действует до ${day}. Продлите её заранее.`
    : `Your subscription ends on ${day}. Renew it in time.`
}

/** What apps show of one whose traffic is used up. */
function limitedAnnouncement(s: Deps, row: ActiveOfUser): string {
  const isRussian = s.config.defaultLang === 'ru'
  const refill = refillOf(row)
  if (refill !== null) {
    const day = formatDay(s.config.timezone, parseTimestamp(refill))
    return isRussian
      ? `Трафик израсходован. Он вернётся ${day}.`
      : `Your traffic is used up. It comes back on ${day}.`
  }
  // What has no end is not renewed.
  if (row.expiresAt === ENDLESS) {
    return isRussian ? 'Трафик израсходован.' : 'Your traffic is used up.'
  }
  return isRussian
    ? 'Трафик израсходован. Он вернётся после продления.'
    : 'Your traffic is used up. It comes back when you renew.'
}

function waitingAnnouncement(s: Deps): string {
  return s.config.defaultLang === 'ru'
    ? 'Срок подписки пойдёт с первого подключения.'
    : 'Your subscription starts with the first use.'
}

const formatOf = ({ format, agent, mayBeJson }: ListVariant, { jsonAgents }: Catalogue) =>
  mayBeJson && jsonAgents.some((word) => agent.includes(word)) ? 'xray-array' : format

/** The header of an app that takes a preset beside links. */
function routingIn(
  format: ListFormat,
  { agent }: ListVariant,
  routing: Routing | null,
  brand: string,
): { routing: string } | undefined {
  if (routing === null || (format !== 'base64' && format !== 'links')) return undefined
  const header = routingHeader(agent, routing, brand)
  return header === undefined ? undefined : { routing: header }
}

/** A writer of lists. */
export function createUserLists(s: Deps) {
  const pages = new URL(subLink(s.config)).href
  const shared = createSharedLists<Catalogue>()
  return (
    owner: ListOwner,
    token: string,
    variant: ListVariant,
    catalogue: Catalogue,
    now: Date,
  ): RenderedList => {
    const { subscriptions } = owner
    const at = formatTimestamp(now)
    const sums = totals(subscriptions, at)
    const { nearest, latest, waiting } = sums
    const expire =
      latest === '' || latest === ENDLESS ? 0 : parseTimestamp(latest).getTime() / SECOND_MS
    const announced = nearest !== '' && nearest <= formatTimestamp(addDays(now, ANNOUNCE_DAYS))
    const { refill, ...traffic } = trafficOf(subscriptions, sums, at)
    const limited = subscriptions.find(({ limitedAt }) => limitedAt !== null)
    const own = ownListHeaders({
      userinfo: { ...traffic, expire },
      webPageUrl: `${pages}${encodeURIComponent(token)}`,
      ...(waiting ? { announce: waitingAnnouncement(s) } : {}),
      ...(announced ? { announce: announcement(s, nearest) } : {}),
      ...(limited ? { announce: limitedAnnouncement(s, limited) } : {}),
      ...(refill === null ? {} : { refill: parseTimestamp(refill).getTime() / SECOND_MS }),
    })
    const brandName = catalogue.settings.text('BRAND_NAME')
    const routing = catalogue.routingOf(subscriptions)
    const format = formatOf(variant, catalogue)
    const sources = sourcesOf(subscriptions, catalogue, now)
    const template = catalogue.templateFor(format, variant.singboxVersion)
    const write = (of: ListSource[]) => {
      const entries = listEntries(of, format === 'xray-array' ? 'xray' : format, template?.names)
      return writeList(format, entries, { brandName, ...variant, template, routing })
    }
    // All else that a list of one subscription says is the catalogue's.
    const { singboxVersion, wsAndXhttp } = variant
    const how = [format, singboxVersion, wsAndXhttp, routing === null, subscriptions[0]?.nodeGroup]
    const text =
      subscriptions.length === 1 ? shared(catalogue, how.join(), sources, write) : write(sources)
    return {
      body: encodeList(format, text),
      headers: {
        ...catalogue.listHeaders,
        ...own,
        ...routingIn(format, variant, routing, brandName),
      },
    }
  }
}
