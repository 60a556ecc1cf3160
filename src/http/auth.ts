/** The session cookie, and the check that every admin route stands behind. */
import type { MiddlewareHandler } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import { DEVICE_TTL_SECONDS } from '#src/domain/accounts/admin-devices.ts'
import { needsConfirmation } from '#src/domain/accounts/confirmation.ts'
import { isSecondFactorRequired } from '#src/domain/accounts/rules.ts'
import {
  authenticate,
  type Cookies,
  noteSeen,
  SESSION_TTL_SECONDS,
} from '#src/domain/accounts/sessions.ts'
import { refusal } from '#src/refusals/index.ts'
import { type AppEnv, type Context, type Http, inTurnOf, ipOf, type OwnOrigins } from './context.ts'

/** Below it is what the panel and scripts ask of the service. */
export const ADMIN_API = '/admin/api'

const COOKIE = 'panel_admin'
const FLAGS = { path: '/', httpOnly: true, secure: true, sameSite: 'Strict' } as const
/** Outlives the session: by it a browser that has logged in before is known. */
const DEVICE_COOKIE = 'panel_device'
const DEVICE_FLAGS = { ...FLAGS, path: ADMIN_API } as const

export function setLoginCookies(c: Context, { session, device }: Cookies): void {
  setCookie(c, COOKIE, session, { ...FLAGS, maxAge: SESSION_TTL_SECONDS })
  if (device === null) return
  setCookie(c, DEVICE_COOKIE, device, { ...DEVICE_FLAGS, maxAge: DEVICE_TTL_SECONDS })
}

/** A cookie of ours as it was sent: nothing that we put there is encoded, and to decode what a stranger did took Node 30 ms. */
export function cookieOf(c: Context, name: string): string | undefined {
  const pairs = (c.req.header('cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

export const deviceToken = (c: Context): string | undefined => cookieOf(c, DEVICE_COOKIE)

export function removeSessionCookie(c: Context): void {
  deleteCookie(c, COOKIE, FLAGS)
}

export const sessionToken = (c: Context): string | undefined => cookieOf(c, COOKIE)

/** The admin of the request's session, or undefined. */
export async function currentAdmin(s: Http, c: Context) {
  const token = sessionToken(c)
  return token ? authenticate(inTurnOf(s, c), token) : undefined
}

/**
 * Lets requests with a live session pass and says who asks; 401 `unauthorized` otherwise, and 403 for an account that has to set
 * up two-factor login first and asks for anything but `enrolment`.
 */
export function requireAdmin(s: Http, enrolment: ReadonlySet<string>): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const session = await currentAdmin(s, c)
    if (!session) throw refusal('unauthorized')
    if (!session.secondFactor && !enrolment.has(c.req.path) && isSecondFactorRequired(s)) {
      throw refusal('second-factor-required')
    }
    c.set('principal', {
      kind: 'session',
      role: 'owner',
      adminId: session.adminId,
      sessionId: session.id,
      actor: { admin: session.username, ip: ipOf(s, c) },
      unconfirmed: needsConfirmation(s, session),
    })
    noteSeen(s, session)
    await next()
  }
}

/** Whether whoever asked for something with their session may go on to have it, however long that lasts. */
export async function mayGoOn(s: Http, token: string): Promise<boolean> {
  const session = await authenticate(s, token)
  return session !== undefined && (session.secondFactor || !isSecondFactorRequired(s))
}

/** Throws 401 where the session of a request has ended since it began: its body may have come slowly. */
export async function requireSession(s: Http, c: Context): Promise<void> {
  if (!(await currentAdmin(s, c))) throw refusal('unauthorized')
}

/**
 * Throws 403 `confirm it is you` where a session of the panel has to give password or code anew: the panel asks for it
 * and sends the request again.
 */
export function requireConfirmed(c: Context): void {
  if (c.get('principal').unconfirmed) {
    throw refusal('confirmation-required')
  }
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Throws 403 `cross-site request` for a request that another site made a browser send: {@link isCrossSite}. */
export function refuseCrossSite(own: OwnOrigins): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (isCrossSite(c, own)) throw refusal('cross-site-request')
    await next()
  }
}

/** The same for unsafe methods: what the others ask for stays unread where it is asked for. */
export function refuseUnsafeCrossSite(own: OwnOrigins): MiddlewareHandler<AppEnv> {
  const refuse = refuseCrossSite(own)
  return (c, next) => (SAFE_METHODS.has(c.req.method) ? next() : refuse(c, next))
}

/**
 * Whether another site made a browser send this: by `Sec-Fetch-Site`, else by an `Origin` that is neither one of the three nor the
 * host asked, by our scheme. SameSite=Strict alone does not do it: SITE, SUB and PANEL are usually same-site.
 */
export function isCrossSite(c: Context, { origins, scheme }: OwnOrigins): boolean {
  const origin = c.req.header('origin')
  const site = c.req.header('sec-fetch-site')
  const isOurs = origin !== undefined && origins.includes(origin)
  if (site !== undefined) return site !== 'same-origin' && site !== 'none' && !isOurs
  if (origin === undefined || isOurs) return false
  const asked = `${scheme}://${c.req.header('host')}`
  return !URL.canParse(asked) || origin.toLowerCase() !== new URL(asked).origin
}
