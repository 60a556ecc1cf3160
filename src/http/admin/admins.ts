/** Admin accounts; the own password and the own sessions. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { listAdmins } from '#db/admins.ts'
import { listSessions } from '#db/logins.ts'
import { changePassword, createAdmin, removeAdmin } from '#src/domain/admins.ts'
import { endOtherSessions, endSession } from '#src/domain/sessions.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { loginOf, removeSessionCookie } from '../auth.ts'
import type { AppEnv, Http } from '../context.ts'
import { plainText, readId, readJson } from '../validate.ts'
import { adminView, sessionView } from '../views.ts'

/** Control, format and line characters would let a name pass for another one, in the log as well. */
const SEEN = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u

// Characters, not the UTF-16 units that minLength counts.
const newPassword = v.pipe(
  plainText(1024),
  v.regex(/^[\s\S]{8,}$/u, 'must have at least 8 characters'),
)

export const account = v.object({
  username: v.pipe(
    plainText(256),
    v.trim(),
    v.regex(/^[\s\S]{3,}$/u, 'must have at least 3 characters'),
    v.regex(SEEN, 'must have no control characters'),
  ),
  password: newPassword,
})

export const passwordChange = v.object({ current_password: plainText(1024), password: newPassword })

export function accountRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/admins', async (c) => c.json((await listAdmins(s.db)).map(adminView)))
    .post('/admins', async (c) => {
      const created = await createAdmin(s, loginOf(c), await readJson(c, account))
      return c.json(adminView(created))
    })
    .delete('/admins/:id', async (c) => {
      await removeAdmin(s, loginOf(c), readId(c, 'id'))
      return c.json({ ok: true })
    })
    .post('/password', async (c) => {
      const { current_password: current, password } = await readJson(c, passwordChange)
      await changePassword(s, loginOf(c), { current, password })
      return c.json({ ok: true })
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
      const id = readId(c, 'id')
      await endSession(s, login, id)
      if (id === login.sessionId) removeSessionCookie(c)
      return c.json({ ok: true })
    })
}
