/** The second factor of the admin who is logged in. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { findAdmin } from '#db/admins.ts'
import { disableTwoFactor, enableTwoFactor, setUpTwoFactor } from '#src/domain/two-factor.ts'
import { loginOf } from '../auth.ts'
import type { AppEnv, Http } from '../context.ts'
import { plainText, readJson } from '../validate.ts'

export const enabling = v.object({ secret: plainText(256), code: plainText(64) })
export const disabling = v.object({ password: plainText(1024) })

export function twoFactorRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/status', async (c) => {
      const admin = await findAdmin(s.db, c.get('adminId'))
      return c.json({ enabled: admin?.totpEnabled ?? false })
    })
    .post('/setup', (c) => c.json(setUpTwoFactor(s, c.get('actor').admin ?? '')))
    .post('/enable', async (c) => {
      await enableTwoFactor(s, loginOf(c), await readJson(c, enabling))
      return c.json({ ok: true })
    })
    .post('/disable', async (c) => {
      const { password } = await readJson(c, disabling)
      await disableTwoFactor(s, loginOf(c), password)
      return c.json({ ok: true })
    })
}
