/** GET /sub/{token}: the connection list for client apps, a page for people. The busiest route: one read of the database before the answer. */
import type { Hono } from 'hono'
import { findListOwner, type ListOwner } from '#db/users.ts'
import { admit, cleanDeviceText, isAdmitted, isSeenStale } from '#src/domain/devices.ts'
import type { Directory } from '#src/domain/directory.ts'
import { createUserLists } from '#src/domain/user-list.ts'
import { notFound } from '#src/lib/errors.ts'
import { daysLeft, formatDay, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import { findApp } from '#src/web/apps.ts'
import { transportHeaders } from '#src/web/csp.ts'
import { expiredPage } from '#src/web/expired-page.ts'
import { openPage, subPage } from '#src/web/sub-page.ts'
import { createListFormats } from './client-apps.ts'
import type { AppEnv, Context, Http } from './context.ts'
import { botUrl, renderPage } from './pages.ts'

const subUrl = (s: Http, token: string) =>
  `${s.config.publicScheme}://${s.config.domains.sub}/sub/${token}`

const unknownToken = () => notFound('not found')

function ownerOf(s: Http, token: string, hwid: string, now: Date): ListOwner {
  const owner = findListOwner(s.db, token, hwid, formatTimestamp(now))
  if (!owner) throw unknownToken()
  return owner
}

/** The page of a user: his subscription, or that it has run out. */
function userPage(s: Http, c: Context, token: string, owner: ListOwner, now: Date): Response {
  const active = owner.subscriptions
  return renderPage(s, c, {}, (base, directory) => {
    const bot = botUrl(s, directory)
    if (active.length === 0) return expiredPage({ ...base, botUrl: bot })
    const subscriptions = active.map((row) => ({
      nodeLabel: directory.nodes.get(row.node)?.label ?? row.node,
      planLabel: directory.plans.get(row.plan)?.label ?? row.plan,
      expiresOn: formatDay(s.config.timezone, parseTimestamp(row.expiresAt)),
      daysLeft: daysLeft(row.expiresAt, now),
    }))
    return subPage({ ...base, subUrl: subUrl(s, token), subscriptions, botUrl: bot })
  })
}

/** Decides on a device that its owner has not registered. */
function admitNew(s: Http, c: Context, owner: ListOwner, hwid: string, directory: Directory) {
  const claim = {
    hwid,
    deviceOs: cleanDeviceText(c.req.header('x-device-os')),
    deviceModel: cleanDeviceText(c.req.header('x-device-model')),
    userAgent: cleanDeviceText(c.req.header('user-agent')),
  }
  return admit(s, owner, claim, directory.settings, c.req.method !== 'HEAD')
}

/** Notes that a registered device fetched its list, once an hour. */
function noteSeen(s: Http, { deviceId, deviceSeenAt }: ListOwner, now: Date): void {
  if (deviceId !== null && deviceSeenAt !== null && isSeenStale(deviceSeenAt, now)) {
    s.seenDevices.add(deviceId)
  }
}

/** Adds the two routes of subscription links. */
export function mountSub(app: Hono<AppEnv>, s: Http): void {
  const lists = createUserLists(s)
  const formats = createListFormats()
  const listedHeaders = {
    ...transportHeaders(s.config.publicScheme),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex',
  }
  // Nothing is awaited for a registered device: the Node adapter writes an answer that is no promise straight out.
  app.get('/sub/:token', (c): Response | Promise<Response> => {
    const token = c.req.param('token')
    const hwid = c.req.header('x-hwid') ?? ''
    const now = s.clock.now()
    const choice = formats(c.req.header('user-agent'), c.req.query('format'))
    const owner = ownerOf(s, token, hwid, now)
    if (!choice) return userPage(s, c, token, owner, now)
    const directory = s.directory(owner.lists)
    const limited = directory.settings.flag('HWID_LIMIT_ENABLED')
    const answer = () => {
      const { body, headers } = lists(owner, token, choice, directory, now)
      const active = limited ? { 'x-hwid-active': 'true' } : undefined
      // A plain object: the Node adapter writes it as it is, without building Headers.
      return new Response(body, { headers: { ...headers, ...listedHeaders, ...active } })
    }
    if (!limited) return answer()
    if (!isAdmitted(owner, hwid)) return admitNew(s, c, owner, hwid, directory).then(() => answer())
    if (c.req.method !== 'HEAD') noteSeen(s, owner, now)
    return answer()
  })
  app.get('/sub/:token/open/:app', (c) => {
    const token = c.req.param('token')
    ownerOf(s, token, '', s.clock.now())
    const known = findApp(c.req.param('app'))
    if (!known) throw notFound('not found')
    return renderPage(s, c, {}, (base) =>
      openPage({ ...base, app: known, subUrl: subUrl(s, token) }),
    )
  })
}
