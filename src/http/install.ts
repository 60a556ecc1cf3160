/** What nodes fetch: the public half of the management key. */
import type { Hono } from 'hono'
import { findManagementKey } from '#db/settings.ts'
import { apiHeaders } from '#src/web/csp.ts'
import type { AppEnv, Http } from './context.ts'

export function mountInstall(app: Hono<AppEnv>, s: Http): void {
  app.get('/mgmt-pubkey.txt', async () => {
    const key = await findManagementKey(s.db)
    return new Response(`${key?.publicKey ?? ''}\n`, {
      headers: {
        ...apiHeaders,
        'Content-Type': 'text/plain; charset=utf-8',
        'Cache-Control': 'no-cache',
      },
    })
  })
}
