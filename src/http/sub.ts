/** GET /sub/{token}: the connection list for client apps, a page for people. The busiest route: one read of the database before the answer. */

import * as v from 'valibot'
import { listDevices } from '#db/devices.ts'
import type { MaybePromise } from '#db/engine/database.ts'
import type { User } from '#db/schema/index.ts'
import { findListOwner, type ListOwner, readUser, readUserByOtherToken } from '#db/users.ts'
import { token } from '#db/values.ts'
import { admit, deviceLimit, isAdmitted, isSeenStale } from '#src/domain/customers/devices.ts'
import { canConnect, createConnectLink } from '#src/domain/customers/linking.ts'
import { findApp } from '#src/domain/lists/apps.ts'
import type { Catalogue } from '#src/domain/lists/catalogue.ts'
import { LIST_FORMATS } from '#src/domain/lists/formats.ts'
import type { ListVariant } from '#src/domain/lists/list.ts'
import { isSold, readShop } from '#src/domain/payments/offer.ts'
import { listShownOfUser } from '#src/domain/subscriptions/subscriptions.ts'
import { cleanDeviceText } from '#src/lib/device-text.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { daysToGo, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import { apiHeaders, transportHeaders } from '#src/web/csp.ts'
import { dayInWords } from '#src/web/day.ts'
import { expiredPage } from '#src/web/expired-page.ts'
import type { Lang } from '#src/web/lang.ts'
import { isInTelegram, isIpad, systemOf } from '#src/web/os.ts'
import { openPage, subPage } from '#src/web/sub-page.ts'
import { type Answer, page, redirect } from './answers.ts'
import type { Context, Http } from './context.ts'
import { openOperations, operation } from './operation.ts'
import { botUrl, choice, currentCatalogue, language, renderPage, siteUrl } from './pages.ts'
import { queryParameter } from './validate.ts'

const unknownToken = () => refusal('not-found')

interface Asked {
  owner: ListOwner
  /** The owner's present one, by which ever they came. */
  token: string
}

/** Whose link it is. Only where it is nobody's present one it is looked for among the others. */
async function ownerOf(s: Http, token: string, hwid: string, now: Date): Promise<Asked> {
  const at = formatTimestamp(now)
  const owner = await findListOwner(s.db, token, hwid, at)
  if (owner) return { owner, token }
  const present = (await s.db.read((q) => readUserByOtherToken(q, token)))?.token
  const known = present === undefined ? undefined : await findListOwner(s.db, present, hwid, at)
  if (present === undefined || !known) throw unknownToken()
  return { owner: known, token: present }
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

/** The owner of a link, with what they are shown beside what is active. */
const readShown = (s: Http, { tgId }: ListOwner, now: Date) =>
  s.db.read(function* (q) {
    const user = yield* readUser(q, tgId)
    const shown = user ? yield* listShownOfUser(q, user, formatTimestamp(now)) : []
    const devices = yield* listDevices(q, tgId)
    return { user, shown, devices: devices.length }
  })

const labelsOf = ({ nodes, plans }: Catalogue, row: { node: string; plan: string }) => ({
  nodeLabel: nodes.get(row.node)?.label ?? row.node,
  planLabel: plans.get(row.plan)?.label ?? row.plan,
})

/** The page of a user without an active subscription. */
async function endedPage(
  s: Http,
  c: Context,
  token: string,
  owner: ListOwner,
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
    })
  })
}

/** The page of a user: their subscription, or that it has run out. */
async function userPage(
  s: Http,
  c: Context,
  token: string,
  owner: ListOwner,
  now: Date,
): Promise<Response> {
  const active = owner.subscriptions.toSorted((a, b) => (a.expiresAt < b.expiresAt ? -1 : 1))
  if (active.length === 0) return endedPage(s, c, token, owner, now)
  const { user, shown, devices } = await readShown(s, owner, now)
  return renderPage(s, c, { kind: 'script', vary: DEVICE_HEADERS }, (base, catalogue) => {
    const subscriptions = active.map((row) => ({
      ...labelsOf(catalogue, row),
      expiresOn: dayOf(s, base.lang, row.expiresAt),
      daysToGo: daysToGo(row.expiresAt, now),
      planDays: catalogue.plans.get(row.plan)?.days ?? null,
    }))
    const paused = shown.flatMap(({ row }) =>
      row.heldAt === null
        ? []
        : [
            {
              ...labelsOf(catalogue, row),
              daysToGo: daysToGo(row.expiresAt, parseTimestamp(row.heldAt)),
            },
          ],
    )
    const limit = deviceLimit(owner, catalogue.settings)
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

/** Decides on a device that its owner has not registered. */
function admitNew(s: Http, c: Context, owner: ListOwner, hwid: string) {
  const claim = {
    hwid,
    deviceOs: cleanDeviceText(c.req.header('x-device-os')),
    deviceModel: cleanDeviceText(c.req.header('x-device-model')),
    userAgent: cleanDeviceText(c.req.header('user-agent')),
  }
  const { settings } = s.catalogue(owner.lists)
  return admit(s, owner, claim, settings, c.req.method !== 'HEAD')
}

/** Notes that a registered device fetched its list, once an hour; HEAD leaves no trace. */
function noteSeen(s: Http, method: string, { deviceId, deviceSeenAt }: ListOwner, now: Date): void {
  if (method === 'HEAD') return
  if (deviceId !== null && deviceSeenAt !== null && isSeenStale(deviceSeenAt, now)) {
    s.seenDevices.add(deviceId)
  }
}

/** The path of a token, and nothing behind it. */
const PLAIN_PATH = /^\/sub\/([\w-]+)$/

function listOf(
  s: Http,
  owner: ListOwner,
  token: string,
  choice: ListVariant,
  limited: boolean,
  now: Date,
): Response {
  const { body, headers } = s.lists.make(owner, token, choice, s.catalogue(owner.lists), now)
  const active = limited ? { 'x-hwid-active': 'true' } : undefined
  // A plain object: the Node adapter writes it as it is, without building Headers.
  return new Response(body, { headers: { ...headers, ...s.lists.headers, ...active } })
}

/** The list for a device that needs no admission; null for one that does. */
function listForKnown(
  s: Http,
  owner: ListOwner,
  device: { hwid: string; method: string },
  token: string,
  choice: ListVariant,
  now: Date,
): Response | null {
  const limited = s.catalogue(owner.lists).settings.flag('HWID_LIMIT_ENABLED')
  if (limited && !isAdmitted(owner, device.hwid)) return null
  if (limited) noteSeen(s, device.method, owner, now)
  return listOf(s, owner, token, choice, limited, now)
}

function listFor(s: Http, { method, url, headers }: Request): MaybePromise<Response | null> {
  const token = PLAIN_PATH.exec(url.slice(url.indexOf('/', 'https://'.length)))?.[1]
  const choice = s.lists.formatFor(headers.get('user-agent'), undefined)
  if (token === undefined || !choice) return null
  const hwid = headers.get('x-hwid') ?? ''
  const now = s.clock.now()
  const owner = findListOwner(s.db, token, hwid, formatTimestamp(now))
  const answer = (known: ListOwner | undefined) =>
    known ? listForKnown(s, known, { hwid, method }, token, choice, now) : null
  return owner instanceof Promise ? owner.then(answer) : answer(owner)
}

/**
 * An answer to the most frequent request before it is routed: the list of a registered device, or of any where devices are not
 * limited. Null for all else, which the operations answer: pages, refusals, faults, and what a browser's script asks, because CORS
 * has a say in it.
 */
export function answerList(s: Http, request: Request): MaybePromise<Response | null> {
  const { method, headers } = request
  if ((method !== 'GET' && method !== 'HEAD') || headers.get('origin') !== null) return null
  const finish = (list: Response | null) =>
    list && method === 'HEAD' ? new Response(null, list) : list
  // The operation meets the same fault, and says so.
  const leave = () => null
  try {
    const list = listFor(s, request)
    return list instanceof Promise ? list.then(finish).catch(leave) : finish(list)
  } catch {
    return leave()
  }
}

/** What a link answers whichever way it is asked for. */
async function answerLink(s: Http, c: Context, given: string): Promise<Response> {
  const hwid = c.req.header('x-hwid') ?? ''
  const now = s.clock.now()
  const choice = s.lists.formatFor(c.req.header('user-agent'), queryParameter(c, 'format'))
  const { owner, token } = await ownerOf(s, given, hwid, now)
  if (!choice) return userPage(s, c, token, owner, now)
  const list = listForKnown(s, owner, { hwid, method: c.req.method }, token, choice, now)
  if (list) return list
  await admitNew(s, c, owner, hwid)
  return listOf(s, owner, token, choice, true, now)
}

/** The way to the bot that connects a Telegram account to a link's owner. */
async function toBot(s: Http, given: string): Promise<Response> {
  await ownerOf(s, given, '', s.clock.now())
  const headers = {
    Location: await createConnectLink(s, given),
    'Cache-Control': 'private, no-store',
    ...apiHeaders,
    ...transportHeaders(s.config.publicScheme),
  }
  return new Response(null, { status: 303, headers })
}

/** The page that opens an app with a link. */
async function appPage(s: Http, c: Context, given: string, app: string): Promise<Response> {
  const { owner, token } = await ownerOf(s, given, '', s.clock.now())
  const known = findApp(currentCatalogue(s).apps, app)
  if (!known) throw refusal('not-found')
  const urls = { subUrl: subLink(s.config, token), accountUrl: accountUrl(s, token) }
  return renderPage(s, c, { kind: 'script', vary: DEVICE_HEADERS }, (base, { settings }) => {
    const limited = deviceLimit(owner, settings) !== null
    return openPage({ ...base, ...visitorOf(c), ...urls, app: known, limited })
  })
}

const list: Answer = {
  media: { 'text/plain': 'text', 'text/html': 'text' },
  headers: {
    'Subscription-Userinfo': {
      summary: 'Traffic and expiry, for client apps',
      schema: v.string(),
      always: false,
    },
  },
}

export const linkOperations = openOperations('Links', [
  operation(
    {
      method: 'get',
      path: '/sub/{token}',
      open: 'token in path',
      summary: 'The connection list for a client app, a page for people',
      params: { token },
      query: v.object({ format: choice(LIST_FORMATS), ...language.entries }),
      headers: {
        'User-Agent': v.string(),
        'X-HWID': v.pipe(v.string(), v.regex(/^[a-zA-Z0-9=-]{10,64}$/)),
        'X-Device-OS': v.string(),
        'X-Device-Model': v.string(),
      },
      ok: list,
    },
    ({ s, c, params }) => answerLink(s, c, params.token),
  ),
  operation(
    {
      method: 'get',
      path: '/sub/{token}/open/{app}',
      open: 'token in path',
      summary: 'Opens a client app with the link, for buttons that take web addresses only',
      params: { token, app: v.string() },
      query: language,
      ok: page,
    },
    ({ s, c, params }) => appPage(s, c, params.token, params.app),
  ),
  operation(
    {
      method: 'get',
      path: '/sub/{token}/telegram',
      open: 'token in path',
      summary: 'Sends a customer without Telegram to the bot, which connects their account',
      params: { token },
      ok: redirect,
      refusals: [400, 429],
    },
    ({ s, params }) => toBot(s, params.token),
  ),
])
