/** Admin accounts; the own password and the own sessions. */
import * as v from 'valibot'
import { findAdmin, listAdmins } from '#db/admins.ts'
import { listSessions } from '#db/logins.ts'
import { adminName, rowId as id } from '#db/values.ts'
import { changePassword, createAdmin, removeAdmin } from '#src/domain/accounts/admins.ts'
import { confirmIdentity } from '#src/domain/accounts/confirmation.ts'
import { isSecondFactorRequired } from '#src/domain/accounts/rules.ts'
import { endOtherSessions, endSession } from '#src/domain/accounts/sessions.ts'
import { isOfOneScript } from '#src/lib/account-name.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { plainText } from '#src/lib/values.ts'
import { refusal } from '#src/refusals/index.ts'
import { deviceToken, removeSessionCookie } from '../auth.ts'
import { adminOperations, operation } from '../operation.ts'
import { admin, confirmed, ownAccount, session } from '../schemas/account.ts'
import { ok } from '../schemas/fields.ts'
import { readId } from '../validate.ts'
import { accountView, adminView, sessionView } from '../views.ts'

// Characters, not the UTF-16 units that minLength counts.
const newPassword = v.pipe(
  plainText(1024),
  v.regex(/^[\s\S]{8,}$/u, 'must have at least 8 characters'),
)

const account = v.object({
  username: v.pipe(adminName, v.check(isOfOneScript, 'must not mix letters of several scripts')),
  password: newPassword,
})

const confirmation = v.pipe(
  v.object({ password: v.optional(plainText(1024)), code: v.optional(plainText(64)) }),
  v.metadata({ oneOf: [{ required: ['password'] }, { required: ['code'] }] }),
)

const passwordChange = v.object({ current_password: plainText(1024), password: newPassword })

export const accountOperations = adminOperations('Accounts', [
  operation(
    {
      method: 'get',
      path: '/admins',
      scope: 'admins:read',
      summary: 'List the admins',
      ok: v.array(admin),
    },
    async ({ s }) => (await s.db.read(listAdmins)).map(adminView),
  ),
  operation(
    {
      method: 'post',
      path: '/admins',
      scope: 'admins:write',
      summary: 'Add an admin',
      confirmed: true,
      body: account,
      ok: admin,
    },
    async ({ s, login, body }) => adminView(await createAdmin(s, login, await body())),
  ),
  operation(
    {
      method: 'delete',
      path: '/admins/{admin_id}',
      scope: 'admins:write',
      summary: 'Remove an admin: not yourself, not the last one',
      confirmed: true,
      params: { admin_id: id },
      ok,
      refusals: [400],
    },
    async ({ s, login, params }) => {
      await removeAdmin(s, login, readId(params.admin_id))
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/password',
      scope: 'account',
      summary: 'Change your own password; your other sessions end',
      body: passwordChange,
      ok,
      refusals: [429],
    },
    async ({ s, c, login, body }) => {
      const { current_password: current, password } = await body()
      await changePassword(s, login, { current, password, device: deviceToken(c) })
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/account',
      scope: 'account',
      summary: 'Your own account',
      enrolment: true,
      ok: ownAccount,
    },
    async ({ s, login }) => {
      const own = await s.db.read((q) => findAdmin(q, login.adminId))
      if (!own) throw refusal('unauthorized')
      return accountView(own, isSecondFactorRequired(s))
    },
  ),
  operation(
    {
      method: 'post',
      path: '/reauth',
      scope: 'account',
      summary: 'Confirm that it is you, by password or code: for ten minutes',
      enrolment: true,
      body: confirmation,
      ok: confirmed,
      refusals: [429],
    },
    async ({ s, login, body }) => {
      const until = await confirmIdentity(s, login, await body())
      return { ok: true, until }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/sessions',
      scope: 'account',
      summary: 'List your own sessions',
      ok: v.array(session),
    },
    async ({ s, login }) => {
      const now = formatTimestamp(s.clock.now())
      const sessions = await s.db.read((q) => listSessions(q, login.adminId, now))
      return sessions.map((one) => sessionView(one, login.sessionId))
    },
  ),
  operation(
    {
      method: 'delete',
      path: '/sessions',
      scope: 'account',
      summary: 'End all your sessions but this one',
      ok,
    },
    async ({ s, login }) => {
      await endOtherSessions(s, login)
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'delete',
      path: '/sessions/{session_id}',
      scope: 'account',
      summary: 'End one of your sessions',
      params: { session_id: id },
      ok,
    },
    async ({ s, c, login, params }) => {
      const sessionId = readId(params.session_id)
      await endSession(s, login, sessionId)
      if (sessionId === login.sessionId) removeSessionCookie(c)
      return { ok: true }
    },
  ),
])
