/** Listens on the runtime's own server: Node through @hono/node-server, Bun by itself. */
import type { Server as HttpServer, IncomingMessage } from 'node:http'

export type Handle = (
  request: Request,
  env: { peer: string | undefined },
) => Response | Promise<Response>

export interface Listening {
  port: number
  /** Refuses new connections, finishes the requests under way. */
  close(): Promise<void>
}

/** Behind a proxy that keeps its connections, ours must live longer than its. */
const KEEP_ALIVE_MS = 65_000
const HEADERS_TIMEOUT_MS = 10_000
/** How long a body may take; a restore is uploaded at the pace of the admin's line. */
const BODY_TIMEOUT_MS = 30_000
const UPLOAD_TIMEOUT_MS = 30 * 60_000
const BACKUP_PATH = '/admin/api/backup'
const UPLOAD_PATH = `${BACKUP_PATH}/restore`
const MAX_HEADER_BYTES = 16_384
/** Bun closes silent connections after 10 s unless told otherwise; calls to outside systems take up to 15 s. */
const BUN_IDLE_SECONDS = 120
/** The app has limits of its own, and answers of its own beyond them. */
const MAX_BODY_BYTES = 1024 ** 4
const CLOSE_IDLE_MS = 50

/**
 * Answers that are ready at once wait until all requests of this turn of the event loop are worked off. Written one after
 * another they wake the peer once; written between the work each of them does, and under load that is a third of the time.
 */
function answerTogether(handle: Handle): Handle {
  let waiting: (() => void)[] = []
  const release = () => {
    const ready = waiting
    waiting = []
    for (const answer of ready) answer()
  }
  return (request, env) => {
    const response = handle(request, env)
    if (response instanceof Promise) return response
    return new Promise((resolve) => {
      if (waiting.push(() => resolve(response)) === 1) setImmediate(release)
    })
  }
}

/** Node knows one time limit for all requests: the shorter one of every other body than a restore's is kept here. */
function limitBodyTime(incoming: IncomingMessage): void {
  const { headers, url } = incoming
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
  if (url?.startsWith(UPLOAD_PATH)) return
  const timer = setTimeout(() => incoming.destroy(), BODY_TIMEOUT_MS)
  incoming.once('close', () => clearTimeout(timer))
}

async function serveNode(own: Handle, hostname: string, port: number): Promise<Listening> {
  const { serve } = await import('@hono/node-server')
  const handle = answerTogether(own)
  return new Promise((resolve, reject) => {
    const server = serve(
      {
        fetch: (request, env) => {
          const { incoming } = env as { incoming: IncomingMessage }
          limitBodyTime(incoming)
          return handle(request, { peer: incoming.socket.remoteAddress })
        },
        hostname,
        port,
        serverOptions: {
          headersTimeout: HEADERS_TIMEOUT_MS,
          requestTimeout: UPLOAD_TIMEOUT_MS,
          keepAliveTimeout: KEEP_ALIVE_MS,
          connectionsCheckingInterval: 5000,
          maxHeaderSize: MAX_HEADER_BYTES,
        },
      },
      (info) =>
        resolve({
          port: info.port,
          close: () =>
            new Promise<void>((closed) => {
              // A connection kept alive becomes idle when its last request is answered.
              const timer = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_MS)
              server.close(() => {
                clearInterval(timer)
                closed()
              })
              server.closeIdleConnections()
            }),
        }),
    ) as HttpServer
    server.on('error', reject)
  })
}

async function serveBun(own: Handle, hostname: string, port: number): Promise<Listening> {
  const handle = answerTogether(own)
  const server = Bun.serve({
    hostname,
    port,
    idleTimeout: BUN_IDLE_SECONDS,
    maxRequestBodySize: MAX_BODY_BYTES,
    fetch: (request, self) => {
      // A Host header that is none leaves Bun with a relative URL, which nothing can parse.
      if (!request.url.startsWith('http')) return new Response('bad request', { status: 400 })
      // Copying and checking a large database is a long silence.
      if (request.url.includes(BACKUP_PATH)) self.timeout(request, 0)
      return handle(request, { peer: self.requestIP(request)?.address })
    },
  })
  return { port: server.port as number, close: () => server.stop() }
}

/** Starts listening. Throws the runtime's error when the port is taken. */
export function serve(handle: Handle, hostname: string, port: number): Promise<Listening> {
  return 'Bun' in globalThis ? serveBun(handle, hostname, port) : serveNode(handle, hostname, port)
}
