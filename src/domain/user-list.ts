/** The connection list of a user: built from his active subscriptions, kept while it stays true. */
import { listActiveOfUser } from '#db/subscriptions.ts'
import type { ListOwner } from '#db/users.ts'
import { DAY_MS, formatDay, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { type ListFormat, renderList } from './connection-list.ts'
import type { Directory } from './directory.ts'
import { type ListSource, listEntries } from './list-entries.ts'
import { listHeaders } from './list-headers.ts'

type Deps = Pick<Services, 'db' | 'config' | 'clock'>

/** How a client wants its list. */
export interface ListVariant {
  format: ListFormat
  singboxVersion: string | null
  wsAndXhttp: boolean
}

export interface RenderedList {
  body: string
  headers: Record<string, string>
}

interface Kept extends RenderedList {
  revision: number
  lists: number
  /** Until this time the subscriptions in it are active and the announcement is right. */
  until: string
}

/** The expiry is announced this long before. */
const ANNOUNCE_MS = 3 * DAY_MS
/** Characters of all kept lists together; about 32 MB. */
const KEPT_CHARACTERS = 16_000_000
const FAR_FUTURE = '9999-12-31T23:59:59'

type Active = ReturnType<typeof listActiveOfUser>[number]

function sourcesOf(subscriptions: Active[], directory: Directory): ListSource[] {
  return subscriptions.flatMap((subscription) => {
    const node = directory.nodes.get(subscription.node)
    if (!node) return []
    const planLabel = directory.plans.get(subscription.plan)?.label ?? subscription.plan
    return [
      { uuid: subscription.uuid, planLabel, node: { ...node, transports: node.transportsJson } },
    ]
  })
}

/** The nearest expiry, the latest one, and when the announcement begins. */
function expiries(subscriptions: Active[]) {
  const times = subscriptions.map((subscription) => subscription.expiresAt).sort()
  const nearest = times[0]
  if (nearest === undefined) return null
  const announceFrom = formatTimestamp(new Date(parseTimestamp(nearest).getTime() - ANNOUNCE_MS))
  return { nearest, latest: times.at(-1) as string, announceFrom }
}

function announcement(s: Deps, lang: string, nearest: string): string {
  const day = formatDay(s.config.timezone, parseTimestamp(nearest))
  return lang === 'ru'
    ? `Подписка действует до ${day}. Продлите её заранее.`
    : `Your subscription ends on ${day}. Renew it in time.`
}

function build(
  s: Deps,
  owner: { tgId: number; banned: boolean; token: string },
  variant: ListVariant,
  directory: Directory,
  now: string,
): RenderedList & { until: string } {
  const { config } = s
  const subscriptions = owner.banned ? [] : listActiveOfUser(s.db, owner.tgId, now)
  const expiry = expiries(subscriptions)
  const announces = expiry !== null && now >= expiry.announceFrom
  const brandName = directory.settings.text('BRAND_NAME')
  const botUsername = directory.settings.text('BOT_USERNAME')
  const headers = listHeaders({
    brandName,
    userinfo: {
      upload: subscriptions.reduce((sum, row) => sum + row.upBytes, 0),
      download: subscriptions.reduce((sum, row) => sum + row.downBytes, 0),
      total: 0,
      expire: expiry === null ? 0 : parseTimestamp(expiry.latest).getTime() / 1000,
    },
    webPageUrl: `${config.publicScheme}://${config.domains.sub}/sub/${owner.token}`,
    supportUrl:
      directory.settings.text('SUPPORT_CONTACT') ||
      (botUsername && `${config.botLinkBase}/${botUsername}`),
    ...(announces ? { announce: announcement(s, config.defaultLang, expiry.nearest) } : {}),
  })
  const entries = listEntries(sourcesOf(subscriptions, directory))
  const body = renderList(variant.format, entries, { brandName, ...variant })
  const until = expiry === null ? FAR_FUTURE : announces ? expiry.nearest : expiry.announceFrom
  return { body, headers, until }
}

/**
 * A renderer that keeps what it made, the least used going first. A kept list is answered only while the user's and the shared
 * revision stand and its time has not come.
 */
export function createUserLists(s: Deps) {
  const kept = new Map<string, Kept>()
  let characters = 0
  const sizeOf = (list: RenderedList) => list.body.length + 1000
  const drop = (key: string, list: Kept) => {
    kept.delete(key)
    characters -= sizeOf(list)
  }
  const keep = (key: string, list: Kept) => {
    kept.set(key, list)
    characters += sizeOf(list)
    for (const [oldest, entry] of kept) {
      if (characters <= KEPT_CHARACTERS) break
      drop(oldest, entry)
    }
  }
  return (
    owner: ListOwner,
    token: string,
    variant: ListVariant,
    directory: Directory,
  ): RenderedList => {
    const key = `${owner.tgId} ${variant.format} ${variant.wsAndXhttp ? 1 : 0} ${variant.singboxVersion ?? ''}`
    const now = formatTimestamp(s.clock.now())
    const found = kept.get(key)
    if (found) {
      const current =
        found.revision === owner.revision && found.lists === directory.revision && now < found.until
      if (current) return found
      drop(key, found)
    }
    const { revision } = owner
    const list = build(
      s,
      { tgId: owner.tgId, banned: owner.bannedAt !== null, token },
      variant,
      directory,
      now,
    )
    keep(key, { ...list, revision, lists: directory.revision })
    return list
  }
}
