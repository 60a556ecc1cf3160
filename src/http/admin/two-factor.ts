/** The second factor of the admin who is logged in. */
import * as v from 'valibot'
import { findAdmin } from '#db/admins.ts'
import { countRecoveryCodes } from '#db/recovery-codes.ts'
import { makeRecoveryCodes } from '#src/domain/accounts/recovery-codes.ts'
import {
  disableTwoFactor,
  enableTwoFactor,
  setUpTwoFactor,
} from '#src/domain/accounts/two-factor.ts'
import { plainText } from '#src/lib/values.ts'
import { adminOperations, operation } from '../operation.ts'
import {
  recoveryCodes,
  recoveryCodesLeft,
  twoFactorSetup,
  twoFactorStatus,
} from '../schemas/account.ts'
import { ok } from '../schemas/fields.ts'

const enabling = v.object({ secret: plainText(256), code: plainText(64) })
const ownPassword = v.object({ password: plainText(1024) })

export const twoFactorOperations = adminOperations('Accounts', [
  operation(
    {
      method: 'get',
      path: '/2fa/status',
      scope: 'account',
      summary: 'Whether your login asks for a code',
      enrolment: true,
      ok: twoFactorStatus,
    },
    async ({ s, login }) => {
      const admin = await s.db.read((q) => findAdmin(q, login.adminId))
      return { enabled: admin?.totpEnabled ?? false }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/2fa/setup',
      scope: 'account',
      summary: 'Make a secret for your authenticator app; nothing is stored yet',
      enrolment: true,
      ok: twoFactorSetup,
    },
    ({ s, actor }) => setUpTwoFactor(s, actor.admin ?? ''),
  ),
  operation(
    {
      method: 'post',
      path: '/2fa/enable',
      scope: 'account',
      summary: 'Store the secret once a code shows that the app has it',
      enrolment: true,
      // The codes of that app confirm from then on.
      confirmed: true,
      body: enabling,
      ok,
    },
    async ({ s, login, body }) => {
      await enableTwoFactor(s, login, await body())
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/2fa/recovery-codes',
      scope: 'account',
      summary: 'How many recovery codes you have left',
      enrolment: true,
      ok: recoveryCodesLeft,
    },
    async ({ s, login }) => ({
      left: await s.db.read((q) => countRecoveryCodes(q, login.adminId)),
    }),
  ),
  operation(
    {
      method: 'post',
      path: '/2fa/recovery-codes',
      scope: 'account',
      summary: 'Make ten recovery codes, shown this once; the old ones end',
      enrolment: true,
      body: ownPassword,
      ok: recoveryCodes,
      refusals: [429],
    },
    async ({ s, login, body }) => {
      const { password } = await body()
      return { codes: await makeRecoveryCodes(s, login, password) }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/2fa/disable',
      scope: 'account',
      summary: 'Log in without a code again',
      enrolment: true,
      body: ownPassword,
      ok,
      refusals: [429],
    },
    async ({ s, login, body }) => {
      const { password } = await body()
      await disableTwoFactor(s, login, password)
      return { ok: true }
    },
  ),
])
