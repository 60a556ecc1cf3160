/** QR codes for the panel, which carries no encoder. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { QUIET_ZONE, qrModules, qrPath } from '#src/lib/qr-code.ts'
import { secretText } from '#src/lib/values.ts'
import type { AppEnv } from '../context.ts'
import { readJson } from '../validate.ts'

/** Links and addresses, which are ASCII: other letters the library writes in a way of its own. */
export const qrText = v.object({ text: secretText(1024) })

export function qrRoutes() {
  // Texts are secrets, which must not stand in addresses: not a GET.
  return new Hono<AppEnv>().post('/qr', async (c) => {
    const modules = qrModules((await readJson(c, qrText)).text)
    return c.json({ size: modules.length + 2 * QUIET_ZONE, path: qrPath(modules) })
  })
}
