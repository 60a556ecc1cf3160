/** The description of the API. */
import { Hono } from 'hono'
import type { AppEnv, Http } from '../context.ts'

export function descriptionRoutes({ config }: Http) {
  // Made when it is first asked for: the service neither starts nor idles with it.
  let document: Promise<string> | undefined
  const create = async () => JSON.stringify((await import('../openapi.ts')).createDocument(config))
  return new Hono<AppEnv>().get('/openapi.json', async (c) => {
    document ??= create()
    return c.body(await document, 200, { 'Content-Type': 'application/json' })
  })
}
