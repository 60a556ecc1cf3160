/** GET /sub/{token}: the connection list for client apps, a page for people. The busiest route: one prepared read before the answer. */
import type { Hono } from 'hono'
import { listActiveOfUser } from '#db/subscriptions.ts'
import { findListOwner, type ListOwner } from '#db/users.ts'
import { admit, cleanDeviceText, isSeenStale } from '#src/domain/devices.ts'
import type { Directory } from '#src/domain/directory.ts'
import { createUserLists } from '#src/domain/user-list.ts'
import { notFound } from '#src/lib/errors.ts'
import { daysLeft, formatDay, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import { findApp } from '#src/web/apps.ts'
import { transportHeaders } from '#src/web/csp.ts'
import { expiredPage } from '#src/web/expired-page.ts'
import { openPage, subPage } from '#src/web/sub-page.ts'
import { listFormat } from './client-apps.ts'
import type { AppEnv, Context, Http } from './context.ts'
import { botUrl, renderPage } from './pages.ts'

const subUrl = (s: Http, token: string) =>
  `${s.config.publicScheme}://${s.config.domains.sub}/sub/${token}`

const unknownToken = () => notFound('not found')

function ownerOf(s: Http, token: string, hwid: string): ListOwner {
  const owner = findListOwner(s.db, token, hwid)
  if (!owner) throw unknownToken()
  return owner
}

/** The page of a user: his subscription, or that it has run out. */
function userPage(s: Http, c: Context, token: string, owner: ListOwner): Response {
  const now = s.clock.now()
  const active =
    owner.bannedAt === null ? listActiveOfUser(s.db, owner.tgId, formatTimestamp(now)) : []
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

async function checkDevice(s: Http, c: Context, owner: ListOwner, directory: Directory) {
  const claim = {
    hwid: c.req.header('x-hwid') ?? '',
    deviceOs: cleanDeviceText(c.req.header('x-device-os')),
    deviceModel: cleanDeviceText(c.req.header('x-device-model')),
    userAgent: cleanDeviceText(c.req.header('user-agent')),
  }
  const registers = c.req.method !== 'HEAD'
  await admit(s, owner, claim, directory.settings, registers)
  if (registers && owner.deviceId !== null && owner.deviceSeenAt !== null) {
    if (isSeenStale(owner.deviceSeenAt, s.clock.now())) s.seenDevices.add(owner.deviceId)
  }
}

/** Adds the two routes of subscription links. */
export function mountSub(app: Hono<AppEnv>, s: Http): void {
  const lists = createUserLists(s)
  const listedHeaders = {
    ...transportHeaders(s.config.publicScheme),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex',
  }
  app.get('/sub/:token', async (c) => {
    const token = c.req.param('token')
    const choice = listFormat(c.req.header('user-agent'), c.req.query('format'))
    const owner = ownerOf(s, token, c.req.header('x-hwid') ?? '')
    if (!choice) return userPage(s, c, token, owner)
    const directory = s.directory(owner.lists)
    const limited = directory.settings.flag('HWID_LIMIT_ENABLED')
    if (limited) await checkDevice(s, c, owner, directory)
    const { body, headers } = lists(owner, token, choice, directory)
    const active = limited ? { 'x-hwid-active': 'true' } : undefined
    // A plain object: the Node adapter writes it as it is, without building Headers.
    return new Response(body, { headers: { ...headers, ...listedHeaders, ...active } })
  })
  app.get('/sub/:token/open/:app', (c) => {
    const token = c.req.param('token')
    ownerOf(s, token, '')
    const known = findApp(c.req.param('app'))
    if (!known) throw notFound('not found')
    return renderPage(s, c, {}, (base) =>
      openPage({ ...base, app: known, subUrl: subUrl(s, token) }),
    )
  })
}
