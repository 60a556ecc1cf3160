/** Login, logout, who am I: the routes that need no session. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { completeLogin, login } from '#src/domain/accounts/login.ts'
import { type LoginOrigin, logout } from '#src/domain/accounts/sessions.ts'
import { flag, plainText } from '#src/lib/values.ts'
import {
  currentAdmin,
  deviceToken,
  removeSessionCookie,
  sessionToken,
  setLoginCookies,
} from '../auth.ts'
import { type AppEnv, type Context, type Http, ipOf } from '../context.ts'
import { readJson } from '../validate.ts'

/** Sent by the panel's login page. */
const panel = v.optional(flag)

export const credentials = v.object({ username: plainText(256), password: plainText(1024), panel })
export const codeStep = v.object({ pending_token: plainText(256), code: plainText(64), panel })

const clientOf = (s: Http, c: Context, panel: boolean | undefined): LoginOrigin => ({
  ip: ipOf(s, c),
  userAgent: c.req.header('user-agent') ?? null,
  formerSession: sessionToken(c),
  device: deviceToken(c),
  panel,
})

export function openRoutes(s: Http) {
  return new Hono<AppEnv>()
    .post('/login', async (c) => {
      const { panel, ...given } = await readJson(c, credentials)
      const result = await login(s, clientOf(s, c, panel), given)
      if ('pending' in result) {
        return c.json({ ok: true, needs_totp: true, pending_token: result.pending })
      }
      setLoginCookies(c, result)
      return c.json({ ok: true })
    })
    .post('/login/totp', async (c) => {
      const { pending_token: pendingToken, code, panel } = await readJson(c, codeStep)
      const client = clientOf(s, c, panel)
      setLoginCookies(c, await completeLogin(s, client, { pendingToken, code }))
      return c.json({ ok: true })
    })
    .post('/logout', async (c) => {
      const token = sessionToken(c)
      if (token) await logout(s, token)
      removeSessionCookie(c)
      // Not the cookies: theme and language are no secret, and those of other services on the domain are none of ours.
      c.header('Clear-Site-Data', '"cache", "storage"')
      return c.json({ ok: true })
    })
    .get('/me', (c) => {
      const admin = currentAdmin(s, c)
      return c.json({ authenticated: admin !== undefined, username: admin?.username ?? null })
    })
}
