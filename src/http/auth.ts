/** The session cookie, and the check that every admin route stands behind. */
import type { MiddlewareHandler } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { authenticate, type Login, noteSeen, SESSION_TTL_SECONDS } from '#src/domain/sessions.ts'
import { forbidden, unauthorized } from '#src/lib/errors.ts'
import { type AppEnv, type Context, type Http, ipOf } from './context.ts'

const COOKIE = 'panel_admin'
const FLAGS = { path: '/', httpOnly: true, secure: true, sameSite: 'Strict' } as const

export function setSessionCookie(c: Context, token: string): void {
  setCookie(c, COOKIE, token, { ...FLAGS, maxAge: SESSION_TTL_SECONDS })
}

export function removeSessionCookie(c: Context): void {
  deleteCookie(c, COOKIE, FLAGS)
}

export const sessionToken = (c: Context): string | undefined => getCookie(c, COOKIE)

/** The admin of the request's session, or undefined. */
export function currentAdmin(s: Http, c: Context) {
  const token = sessionToken(c)
  return token ? authenticate(s, token) : undefined
}

/** Lets requests with a live session pass and names their actor; 401 `unauthorized` otherwise. */
export function requireAdmin(s: Http): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const session = currentAdmin(s, c)
    if (!session) throw unauthorized()
    c.set('actor', { admin: session.username, ip: ipOf(s, c) })
    c.set('adminId', session.adminId)
    c.set('sessionId', session.id)
    noteSeen(s, session)
    await next()
  }
}

/** Who is logged in, behind the session check. */
export function loginOf(c: Context): Login {
  return { adminId: c.get('adminId'), sessionId: c.get('sessionId'), actor: c.get('actor') }
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses unsafe requests that another site made a browser send: by `Sec-Fetch-Site`, else by an `Origin` that is neither one of
 * the three nor the host asked. SameSite=Strict alone does not do it: SITE, SUB and PANEL are usually same-site.
 */
export function refuseCrossSite(origins: string[]): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (!SAFE_METHODS.has(c.req.method) && isCrossSite(c, origins)) {
      throw forbidden('cross-site request')
    }
    await next()
  }
}

function isCrossSite(c: Context, origins: string[]): boolean {
  const origin = c.req.header('origin')
  const site = c.req.header('sec-fetch-site')
  const isOurs = origin !== undefined && origins.includes(origin)
  if (site !== undefined) return site !== 'same-origin' && site !== 'none' && !isOurs
  if (origin === undefined || isOurs) return false
  return hostOf(origin) !== c.req.header('host')?.toLowerCase()
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host
  } catch {
    return null
  }
}
