/** GET /sub/{token}: the connection list for client apps, a page for people. The busiest route: one read of the database before the answer. */

import * as v from 'valibot'
import type { MaybePromise } from '#db/engine/database.ts'
import { type ActiveOfUser, type ListOwner, readUserByOtherToken } from '#db/users.ts'
import { token } from '#db/values.ts'
import { admit, isAdmitted, isSeenStale } from '#src/domain/customers/devices.ts'
import { createConnectLink } from '#src/domain/customers/linking.ts'
import { beginUsed, endFromNow, isWaiting } from '#src/domain/delayed-start.ts'
import type { Catalogue } from '#src/domain/lists/catalogue.ts'
import { LIST_FORMATS } from '#src/domain/lists/formats.ts'
import type { ListVariant, RenderedList } from '#src/domain/lists/list.ts'
import { cleanDeviceText } from '#src/lib/device-text.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import { apiHeaders, transportHeaders } from '#src/web/csp.ts'
import { type Answer, page, redirect } from './answers.ts'
import type { Context, Http } from './context.ts'
import { askOwner, type FindOwner, type FoundOwner } from './list-owners.ts'
import { openOperations, operation } from './operation.ts'
import { botUrl, choice, currentCatalogue, language } from './pages.ts'
import { appPage, type LinkOwner, userPage } from './sub-pages.ts'
import { textBody } from './text-body.ts'
import { queryParameter } from './validate.ts'

const unknownToken = () => refusal('not-found')

/** Whose link it is. Only where it is nobody's present one it is looked for among the others. */
async function ownerOf(
  s: Http,
  find: FindOwner,
  { token, hwid, now }: { token: string; hwid: string; now: Date },
): Promise<LinkOwner> {
  const owner = await find(token, hwid, now)
  if (owner) return { owner, token }
  const present = (await s.db.read((q) => readUserByOtherToken(q, token)))?.token
  const known = present === undefined ? undefined : await find(present, hwid, now)
  if (present === undefined || !known) throw unknownToken()
  return { owner: known, token: present }
}

/** Decides on a device that its owner has not registered. */
function admitNew(s: Http, c: Context, owner: ListOwner, hwid: string) {
  const claim = {
    hwid,
    deviceOs: cleanDeviceText(c.req.header('x-device-os')),
    deviceModel: cleanDeviceText(c.req.header('x-device-model')),
    userAgent: cleanDeviceText(c.req.header('user-agent')),
  }
  return admit(s, owner, claim, s.catalogue(owner.lists), c.req.method !== 'HEAD')
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

/**
 * Of servers that others manage a fetch is all that is known of their use: what waits for its first one begins with it. The owner as they are
 * then; HEAD leaves no trace.
 */
function withUse(s: Http, method: string, owner: FoundOwner, now: Date): FoundOwner {
  if (method === 'HEAD' || owner.staleSeconds !== undefined) return owner
  const at = formatTimestamp(now)
  const { nodes, nodesOf } = s.catalogue(owner.lists)
  const isUsed = (one: ActiveOfUser) =>
    isWaiting(one, at) && nodesOf(one, now).some((code) => nodes.get(code)?.kind === 'external')
  const used = owner.subscriptions.filter((one) => one.startBy !== null && isUsed(one))
  if (used.length === 0) return owner
  s.background.run('begin subscriptions', () => beginUsed(s, used, now))
  const subscriptions = owner.subscriptions.map((one) =>
    used.includes(one)
      ? { ...one, startBy: null, expiresAt: endFromNow(one, at), resetsAt: null }
      : one,
  )
  return { ...owner, subscriptions }
}

interface Wanted {
  token: string
  variant: ListVariant
  catalogue: Catalogue
  /** Whether the devices of customers are limited. */
  limited: boolean
  now: Date
}

/** A list as it is answered, body and headers. */
export function listAnswer(
  s: Http,
  owner: FoundOwner,
  { token, variant, catalogue, limited, now }: Wanted,
): RenderedList {
  const { body, headers } = s.lists.make(owner, token, variant, catalogue, now)
  const active = limited ? { 'x-hwid-active': 'true' } : undefined
  const stale =
    owner.staleSeconds === undefined ? undefined : { 'x-stale': `${owner.staleSeconds}` }
  return { body, headers: { ...headers, ...s.lists.headers, ...active, ...stale } }
}

function listOf(
  s: Http,
  owner: FoundOwner,
  token: string,
  variant: ListVariant,
  limited: boolean,
  now: Date,
): Response {
  const catalogue = s.catalogue(owner.lists)
  const { body, headers } = listAnswer(s, owner, { token, variant, catalogue, limited, now })
  // A plain object: the Node adapter writes it as it is, without building Headers.
  return new Response(textBody(body), { headers })
}

/** The list for a device that needs no admission; null for one that does. */
function listForKnown(
  s: Http,
  owner: FoundOwner,
  device: { hwid: string; method: string },
  token: string,
  choice: ListVariant,
  now: Date,
): Response | null {
  const limited = s.catalogue(owner.lists).settings.flag('HWID_LIMIT_ENABLED')
  if (limited && !isAdmitted(owner, device.hwid)) return null
  if (limited) noteSeen(s, device.method, owner, now)
  return listOf(s, withUse(s, device.method, owner, now), token, choice, limited, now)
}

function listFor(s: Http, { method, url, headers }: Request): MaybePromise<Response | null> {
  const token = PLAIN_PATH.exec(url.slice(url.indexOf('/', 'https://'.length)))?.[1]
  const choice = s.lists.formatFor(headers.get('user-agent'), undefined)
  if (token === undefined || !choice) return null
  const hwid = headers.get('x-hwid') ?? ''
  const now = s.clock.now()
  const owner = s.findOwner(token, hwid, now)
  const answer = (known: FoundOwner | undefined) =>
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
  const find = choice ? s.findOwner : askOwner(s)
  const { owner, token } = await ownerOf(s, find, { token: given, hwid, now })
  if (!choice) return userPage(s, c, { owner, token }, now)
  const list = listForKnown(s, owner, { hwid, method: c.req.method }, token, choice, now)
  if (list) return list
  await admitNew(s, c, owner, hwid)
  return listOf(s, withUse(s, c.req.method, owner, now), token, choice, true, now)
}

/** The bot as whoever only looks is sent there: a code for them would end the one before it. */
function botAsSeen(s: Http): string {
  const url = botUrl(s, currentCatalogue(s))
  if (url === null) throw refusal('telegram-not-available')
  return url
}

/** The way to the bot that connects a Telegram account to a link's owner. */
async function toBot(s: Http, method: string, given: string): Promise<Response> {
  await ownerOf(s, askOwner(s), { token: given, hwid: '', now: s.clock.now() })
  const headers = {
    Location: method === 'HEAD' ? botAsSeen(s) : await createConnectLink(s, given),
    'Cache-Control': 'private, no-store',
    ...apiHeaders,
    ...transportHeaders(s.config.publicScheme),
  }
  return new Response(null, { status: 303, headers })
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
    async ({ s, c, params }) => {
      const asked = { token: params.token, hwid: '', now: s.clock.now() }
      return appPage(s, c, await ownerOf(s, askOwner(s), asked), params.app)
    },
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
    ({ s, c, params }) => toBot(s, c.req.method, params.token),
  ),
])
