/** Login, logout, who am I: the routes that need no session. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { completeLogin, login } from '#src/domain/login.ts'
import { type Client, logout } from '#src/domain/sessions.ts'
import { currentAdmin, removeSessionCookie, sessionToken, setSessionCookie } from '../auth.ts'
import { type AppEnv, type Context, type Http, ipOf } from '../context.ts'
import { plainText, readJson } from '../validate.ts'

export const credentials = v.object({ username: plainText(256), password: plainText(1024) })
export const codeStep = v.object({ pending_token: plainText(256), code: plainText(64) })

const clientOf = (s: Http, c: Context): Client => ({
  ip: ipOf(s, c),
  userAgent: c.req.header('user-agent') ?? null,
})

export function openRoutes(s: Http) {
  return new Hono<AppEnv>()
    .post('/login', async (c) => {
      const body = await readJson(c, credentials)
      const result = await login(s, clientOf(s, c), body)
      if ('pending' in result) {
        return c.json({ ok: true, needs_totp: true, pending_token: result.pending })
      }
      setSessionCookie(c, result.session)
      return c.json({ ok: true })
    })
    .post('/login/totp', async (c) => {
      const { pending_token: pendingToken, code } = await readJson(c, codeStep)
      setSessionCookie(c, await completeLogin(s, clientOf(s, c), { pendingToken, code }))
      return c.json({ ok: true })
    })
    .post('/logout', async (c) => {
      const token = sessionToken(c)
      if (token) await logout(s, token)
      removeSessionCookie(c)
      return c.json({ ok: true })
    })
    .get('/me', (c) => {
      const admin = currentAdmin(s, c)
      return c.json({ authenticated: admin !== undefined, username: admin?.username ?? null })
    })
}
