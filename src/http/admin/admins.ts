/** Admin accounts; the own password and the own sessions. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { findAdmin, listAdmins } from '#db/admins.ts'
import { listSessions } from '#db/logins.ts'
import { adminName } from '#db/values.ts'
import { changePassword, createAdmin, removeAdmin } from '#src/domain/accounts/admins.ts'
import { confirmIdentity } from '#src/domain/accounts/confirmation.ts'
import { isSecondFactorRequired } from '#src/domain/accounts/rules.ts'
import { endOtherSessions, endSession } from '#src/domain/accounts/sessions.ts'
import { isOfOneScript } from '#src/lib/account-name.ts'
import { unauthorized } from '#src/lib/errors.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { plainText } from '#src/lib/values.ts'
import { deviceToken, loginOf, removeSessionCookie, requireConfirmed } from '../auth.ts'
import type { AppEnv, Http } from '../context.ts'
import { readId, readJson } from '../validate.ts'
import { accountView, adminView, sessionView } from '../views.ts'

// Characters, not the UTF-16 units that minLength counts.
const newPassword = v.pipe(
  plainText(1024),
  v.regex(/^[\s\S]{8,}$/u, 'must have at least 8 characters'),
)

export const account = v.object({
  username: v.pipe(adminName, v.check(isOfOneScript, 'must not mix letters of several scripts')),
  password: newPassword,
})

export const confirmation = v.object({
  password: v.optional(plainText(1024)),
  code: v.optional(plainText(64)),
})

export const passwordChange = v.object({ current_password: plainText(1024), password: newPassword })

export function accountRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/admins', async (c) => c.json((await listAdmins(s.db)).map(adminView)))
    .post('/admins', async (c) => {
      requireConfirmed(c)
      const created = await createAdmin(s, loginOf(c), await readJson(c, account))
      return c.json(adminView(created))
    })
    .delete('/admins/:id', async (c) => {
      requireConfirmed(c)
      await removeAdmin(s, loginOf(c), readId(c.req.param('id')))
      return c.json({ ok: true })
    })
    .post('/password', async (c) => {
      const { current_password: current, password } = await readJson(c, passwordChange)
      await changePassword(s, loginOf(c), { current, password, device: deviceToken(c) })
      return c.json({ ok: true })
    })
    .get('/account', async (c) => {
      const admin = await findAdmin(s.db, c.get('adminId'))
      if (!admin) throw unauthorized()
      return c.json(accountView(admin, isSecondFactorRequired(s)))
    })
    .post('/reauth', async (c) => {
      const until = await confirmIdentity(s, loginOf(c), await readJson(c, confirmation))
      return c.json({ ok: true, until })
    })
    .get('/sessions', async (c) => {
      const now = formatTimestamp(s.clock.now())
      const { adminId, sessionId } = loginOf(c)
      const sessions = await listSessions(s.db, adminId, now)
      return c.json(sessions.map((session) => sessionView(session, sessionId)))
    })
    .delete('/sessions', async (c) => {
      await endOtherSessions(s, loginOf(c))
      return c.json({ ok: true })
    })
    .delete('/sessions/:id', async (c) => {
      const login = loginOf(c)
      const id = readId(c.req.param('id'))
      await endSession(s, login, id)
      if (id === login.sessionId) removeSessionCookie(c)
      return c.json({ ok: true })
    })
}
