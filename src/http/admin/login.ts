/** Login, logout, who am I: the routes that need no session. */
import * as v from 'valibot'
import { completeLogin, login } from '#src/domain/accounts/login.ts'
import { type LoginOrigin, logout } from '#src/domain/accounts/sessions.ts'
import { flag, plainText } from '#src/lib/values.ts'
import type { JsonAnswer } from '../answers.ts'
import {
  currentAdmin,
  deviceToken,
  removeSessionCookie,
  sessionToken,
  setLoginCookies,
} from '../auth.ts'
import { type Context, type Http, ipOf } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { loginAnswer, me } from '../schemas/account.ts'
import { ok } from '../schemas/fields.ts'

/** Sent by the panel's login page. */
const panel = v.optional(flag)

const credentials = v.object({ username: plainText(256), password: plainText(1024), panel })
const codeStep = v.object({ pending_token: plainText(256), code: plainText(64), panel })

const clientOf = (s: Http, c: Context, panel: boolean | undefined): LoginOrigin => ({
  ip: ipOf(s, c),
  userAgent: c.req.header('user-agent') ?? null,
  formerSession: sessionToken(c),
  device: deviceToken(c),
  panel,
})

/** The cookie comes with it, save where a code must follow. */
const withCookie = <const S extends v.GenericSchema>(
  schema: S,
  always: boolean,
): JsonAnswer<S> => ({
  media: { 'application/json': schema },
  headers: {
    'Set-Cookie': {
      summary: 'The session',
      schema: v.pipe(v.string(), v.regex(/^panel_admin=/)),
      always,
    },
  },
})

export const loginOperations = adminOperations('Accounts', [
  operation(
    {
      method: 'post',
      path: '/login',
      summary: 'Log in; with 2FA on, a code must follow',
      open: 'public',
      body: credentials,
      ok: withCookie(loginAnswer, false),
      refusals: [401, 429],
    },
    async ({ s, c, body }) => {
      const { panel, ...given } = await body()
      const result = await login(s, clientOf(s, c, panel), given)
      if ('pending' in result) {
        return { ok: true, needs_totp: true, pending_token: result.pending }
      }
      setLoginCookies(c, result)
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/login/totp',
      summary: 'Finish a login with a code of the authenticator app, or a recovery code',
      open: 'public',
      body: codeStep,
      ok: withCookie(ok, true),
      refusals: [401, 429],
    },
    async ({ s, c, body }) => {
      const { pending_token: pendingToken, code, panel } = await body()
      const client = clientOf(s, c, panel)
      setLoginCookies(c, await completeLogin(s, client, { pendingToken, code }))
      return { ok: true }
    },
  ),
  operation(
    { method: 'post', path: '/logout', summary: 'End this session', open: 'public', ok },
    async ({ s, c }) => {
      const token = sessionToken(c)
      if (token) await logout(s, token)
      removeSessionCookie(c)
      // Not the cookies: theme and language are no secret, and those of other services on the domain are none of ours.
      c.header('Clear-Site-Data', '"cache", "storage"')
      return { ok: true }
    },
  ),
  operation(
    { method: 'get', path: '/me', summary: 'Who is logged in', open: 'public', ok: me },
    async ({ s, c }) => {
      const admin = await currentAdmin(s, c)
      return { authenticated: admin !== undefined, username: admin?.username ?? null }
    },
  ),
])
