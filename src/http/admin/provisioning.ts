/** How nodes are set up: the guide for a new one, and its command once more. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { port } from '#db/values.ts'
import { DEFAULT_SNI, guideNode, reissueCommand } from '#src/domain/nodes/install/guide.ts'
import { addressOf, hostNameOf } from '#src/lib/host-name.ts'
import { flag, plainText, requiredLine } from '#src/lib/values.ts'
import { requireConfirmed } from '../auth.ts'
import type { AppEnv, Http } from '../context.ts'
import { readJson } from '../validate.ts'

/** A text that `read` understands, as it has it. */
const place = (read: (text: string) => string | null, need: string) =>
  v.pipe(
    plainText(255),
    v.trim(),
    v.check((text) => read(text) !== null, need),
    v.transform((text) => read(text) as string),
  )

export const guide = v.object({
  label: requiredLine(128),
  address: place(addressOf, 'must be a host name or an IP address'),
  port: v.optional(port, 443),
  sni: v.optional(place(hostNameOf, 'must be a host name'), DEFAULT_SNI),
  include_ws: v.optional(flag, false),
  include_xhttp: v.optional(flag, false),
  include_hysteria2: v.optional(flag, false),
  hysteria_port: v.optional(port, 443),
})

export function provisioningRoutes(s: Http) {
  return new Hono<AppEnv>()
    .post('/provision-guide', async (c) => {
      requireConfirmed(c)
      const { include_ws, include_xhttp, include_hysteria2, hysteria_port, ...rest } =
        await readJson(c, guide)
      const wanted = {
        ...rest,
        includeWs: include_ws,
        includeXhttp: include_xhttp,
        includeHysteria2: include_hysteria2,
        hysteriaPort: hysteria_port,
      }
      return c.json(await guideNode(s, c.get('actor'), wanted))
    })
    .post('/:code/provision', async (c) =>
      c.json(
        await reissueCommand(s, c.get('actor'), c.req.param('code'), () => requireConfirmed(c)),
      ),
    )
}
