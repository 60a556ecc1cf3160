/** The second factor of the admin who is logged in. */
import { Hono } from 'hono'
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
import { loginOf, requireConfirmed } from '../auth.ts'
import type { AppEnv, Http } from '../context.ts'
import { readJson } from '../validate.ts'

export const enabling = v.object({ secret: plainText(256), code: plainText(64) })
export const ownPassword = v.object({ password: plainText(1024) })

export function twoFactorRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/status', async (c) => {
      const admin = await findAdmin(s.db, c.get('adminId'))
      return c.json({ enabled: admin?.totpEnabled ?? false })
    })
    .post('/setup', (c) => c.json(setUpTwoFactor(s, c.get('actor').admin ?? '')))
    .post('/enable', async (c) => {
      // The codes of that app confirm from then on.
      requireConfirmed(c)
      await enableTwoFactor(s, loginOf(c), await readJson(c, enabling))
      return c.json({ ok: true })
    })
    .get('/recovery-codes', async (c) => {
      return c.json({ left: await countRecoveryCodes(s.db, c.get('adminId')) })
    })
    .post('/recovery-codes', async (c) => {
      const { password } = await readJson(c, ownPassword)
      return c.json({ codes: await makeRecoveryCodes(s, loginOf(c), password) })
    })
    .post('/disable', async (c) => {
      const { password } = await readJson(c, ownPassword)
      await disableTwoFactor(s, loginOf(c), password)
      return c.json({ ok: true })
    })
}
