/** The pages that a subscription link shows to people. */
import { countDevices } from '#db/devices.ts'
import type { Subscription, User } from '#db/schema/index.ts'
import { type ListOwner, readUser } from '#db/users.ts'
import { deviceLimit, limitOfPlans } from '#src/domain/customers/devices.ts'
import { canConnect } from '#src/domain/customers/linking.ts'
import { isWaiting, periodEnd, type Start, waitingDays } from '#src/domain/delayed-start.ts'
import { findApp } from '#src/domain/lists/apps.ts'
import type { Catalogue } from '#src/domain/lists/catalogue.ts'
import { isSold, readShop } from '#src/domain/payments/offer.ts'
import { listShownOfUser } from '#src/domain/subscriptions/subscriptions.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { daysToGo, ENDLESS, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import { dayInWords } from '#src/web/day.ts'
import { expiredPage } from '#src/web/expired-page.ts'
import type { Lang } from '#src/web/lang.ts'
import { isInTelegram, isIpad, systemOf } from '#src/web/os.ts'
import { openPage, subPage } from '#src/web/sub-page.ts'
import { usedTraffic } from '#src/web/traffic.ts'
import type { Context, Http } from './context.ts'
import { botUrl, currentCatalogue, renderPage, siteUrl } from './pages.ts'
import { queryParameter } from './validate.ts'

/** Whose link it is. */
export interface LinkOwner {
  owner: ListOwner
  /** The owner's present one, by which ever they came. */
  token: string
}

/** What pages with a link to apps depend on beside their language. */
const DEVICE_HEADERS = ['User-Agent', 'Sec-CH-UA-Platform']

/** What the browser says of the device that a page is opened on. */
function visitorOf(c: Context) {
  const userAgent = c.req.header('user-agent')
  const platform = c.req.header('sec-ch-ua-platform')
  return {
    system: systemOf({ userAgent, platform, chosen: queryParameter(c, 'os') }),
    visitor: systemOf({ userAgent, platform, chosen: null }),
    ipad: isIpad(userAgent),
    inTelegram: isInTelegram(userAgent),
  }
}

/** The cabinet of a link's owner: the token stays in the browser. */
const accountUrl = (s: Http, token: string) => `${siteUrl(s)}/cabinet.html#${token}`

/** Whether the owner of a link can pay for anything now, in the bot or on the site, and where on the site. */
function saleTo(s: Http, catalogue: Catalogue, user: User | undefined, token: string) {
  const shop = user && readShop(catalogue, user)
  const selling = shop?.plans.some((plan) => isSold(shop, plan, s.config.currency)) ?? false
  return { selling, renewUrl: selling ? accountUrl(s, token) : null }
}

/**
 * The ways to the bot of a link's owner: into it, or there to connect their Telegram account, without which it would know them as somebody
 * else.
 */
function botOf(s: Http, catalogue: Catalogue, user: User | undefined, token: string) {
  if (!user || !canConnect(user, catalogue.settings)) {
    return { botUrl: botUrl(s, catalogue), connectUrl: null }
  }
  return { botUrl: null, connectUrl: `${subLink(s.config, token)}/telegram` }
}

const dayOf = (s: Http, lang: Lang, timestamp: string): string =>
  dayInWords(lang, s.config.timezone, parseTimestamp(timestamp))

/** The days of a subscription at a time, and what is said in place of an end that it has not, or not yet. */
function daysOf(row: Start & Pick<Subscription, 'expiresAt' | 'startSeconds'>, at: Date) {
  if (isWaiting(row, formatTimestamp(at))) {
    const days = waitingDays(row)
    return { daysToGo: days, planDays: days, term: 'unstarted' as const }
  }
  const daysToGoOn = { daysToGo: daysToGo(row.expiresAt, at) }
  return row.expiresAt === ENDLESS ? { ...daysToGoOn, term: 'endless' as const } : daysToGoOn
}

/** The owner of a link, with what they are shown beside what is active. */
const readShown = (s: Http, { tgId }: ListOwner, now: Date) =>
  s.db.read(function* (q) {
    const user = yield* readUser(q, tgId)
    const shown = user ? yield* listShownOfUser(q, user, formatTimestamp(now)) : []
    return { user, shown, devices: yield* countDevices(q, tgId) }
  })

const labelsOf = (
  { nodes, groups, plans }: Catalogue,
  row: { node: string; nodeGroup: string | null; plan: string },
) => ({
  nodeLabel: groups.get(row.nodeGroup ?? '')?.label ?? nodes.get(row.node)?.label ?? row.node,
  planLabel: plans.get(row.plan)?.label ?? row.plan,
})

/** The page of a user without an active subscription. */
async function endedPage(
  s: Http,
  c: Context,
  { owner, token }: LinkOwner,
  now: Date,
): Promise<Response> {
  const { user, shown } = await readShown(s, owner, now)
  return renderPage(s, c, {}, (base, catalogue) => {
    const ended = shown.flatMap(({ row, state }) => (state === 'expired' ? [row.expiresAt] : []))
    const last = ended.sort().at(-1)
    return expiredPage({
      ...base,
      ...botOf(s, catalogue, user, token),
      ...saleTo(s, catalogue, user, token),
      endedOn: last === undefined ? null : dayOf(s, base.lang, last),
      paused: shown.some(({ state }) => state === 'held'),
      disabled: shown.some(({ state }) => state === 'disabled'),
    })
  })
}

/** The page of a user: their subscription, or that it has run out. */
export async function userPage(
  s: Http,
  c: Context,
  { owner, token }: LinkOwner,
  now: Date,
): Promise<Response> {
  const active = owner.subscriptions.toSorted((a, b) => (a.expiresAt < b.expiresAt ? -1 : 1))
  if (active.length === 0) return endedPage(s, c, { owner, token }, now)
  const { user, shown, devices } = await readShown(s, owner, now)
  return renderPage(s, c, { kind: 'script', vary: DEVICE_HEADERS }, (base, catalogue) => {
    const subscriptions = active.map((row) => ({
      ...labelsOf(catalogue, row),
      expiresOn: dayOf(s, base.lang, row.expiresAt),
      planDays: catalogue.plans.get(row.plan)?.days ?? null,
      traffic: usedTraffic(base.lang, s.config.timezone, {
        ...row,
        resetsAt: periodEnd(row, formatTimestamp(now)),
      }),
      ...daysOf(row, now),
    }))
    const paused = shown.flatMap(({ row, state }) =>
      row.heldAt === null || state !== 'held'
        ? []
        : [
            {
              ...labelsOf(catalogue, row),
              ...daysOf(row, parseTimestamp(row.heldAt)),
            },
          ],
    )
    const ofPlans = limitOfPlans(catalogue.plans, owner.subscriptions)
    const limit = deviceLimit(owner, catalogue.settings, ofPlans)
    return subPage({
      ...base,
      ...visitorOf(c),
      apps: catalogue.apps,
      subUrl: subLink(s.config, token),
      accountUrl: accountUrl(s, token),
      subscriptions,
      paused,
      ...botOf(s, catalogue, user, token),
      ...saleTo(s, catalogue, user, token),
      devices: limit === null ? null : { limit, count: devices },
    })
  })
}

/** The page that opens an app with a link. */
export function appPage(s: Http, c: Context, { owner, token }: LinkOwner, app: string): Response {
  const known = findApp(currentCatalogue(s).apps, app)
  if (!known) throw refusal('not-found')
  const urls = { subUrl: subLink(s.config, token), accountUrl: accountUrl(s, token) }
  return renderPage(s, c, { kind: 'script', vary: DEVICE_HEADERS }, (base, { settings }) => {
    const limited = deviceLimit(owner, settings) !== null
    return openPage({ ...base, ...visitorOf(c), ...urls, app: known, limited })
  })
}
