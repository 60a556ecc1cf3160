/** The yardstick: a Hono app with one route that answers what it was given, on the adapter of the service. */
import { Hono } from 'hono'

export interface BareAnswer {
  headers: Record<string, string>
  body: string
}

/** The runtime's own server, with nothing of the service between. */
async function listen(): Promise<number> {
  if ('Bun' in globalThis) {
    return Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: app.fetch }).port as number
  }
  const { serve } = await import('@hono/node-server')
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => resolve(port))
  })
}

const { headers, body } = JSON.parse(process.env.BARE_ANSWER ?? '') as BareAnswer
const app = new Hono()
app.get('/sub/:token', () => new Response(body, { headers }))
const port = await listen()
console.error(`bare listening port=${port}`)
process.on('SIGTERM', () => process.exit(0))
