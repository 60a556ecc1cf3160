/** Listens on the runtime's own server: Node through @hono/node-server, Bun by itself. */
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Connection } from './http/context.ts'
import { createByteBudget } from './lib/byte-budget.ts'
import { tooSlow } from './lib/errors.ts'
import { SECOND_MS } from './lib/time.ts'
import { areTooMany } from './lib/too-many-pieces.ts'

export type Handle = (request: Request, env: Connection) => Response | Promise<Response>

export interface Listening {
  port: number
  /** Refuses new connections, finishes the requests under way. */
  close(): Promise<void>
}

interface Limits {
  /** How long a body may take, for whom nothing longer is allowed. */
  bodyMs: number
  /** How long nothing may move; on Bun in whole seconds. */
  silenceMs: number
  /** Whether a peer is a proxy of ours, which sends no request before the answer to its last: it is spared what holds back strangers. */
  isProxy: (peer: string | undefined) => boolean
  /** Whether other processes listen on the port too: the system then gives each of them its share of the connections (Linux). */
  shared: boolean
}

/** Behind a proxy that keeps its connections, ours must live longer than its. */
const KEEP_ALIVE_MS = 65_000
const HEADERS_TIMEOUT_MS = 10_000
const BODY_TIMEOUT_MS = 30_000
/** A restore is uploaded at the pace of the admin's line. */
const UPLOAD_TIMEOUT_MS = 30 * 60_000
const MAX_HEADER_BYTES = 16_384
/**
 * A connection in whose requests and answers nothing moves for so long is ended: its peer does not take what it asked for. Calls to
 * outside systems, which are silent as well, take up to 15 s.
 */
const SILENCE_MS = 120_000
/** So many requests of a connection may wait for the answer before them. No browser sends a second one, and no proxy. */
const PIPELINED = 16
/** What the parser gets at a time: a few requests as browsers and apps send them, 60 of the shortest there are. */
const PIECE_BYTES = 1024
/** The app has limits of its own, and answers of its own beyond them. */
const MAX_BODY_BYTES = 1024 ** 4
/** Of bodies above 16 KB under way at once: 1,500 notices of 256 KB that never ended were 400 MB, and what the runtime had of them beside. */
const BODIES_BYTES = 32 * 1024 ** 2
const CLOSE_IDLE_MS = 50

/**
 * Answers that are ready at once wait until all requests of this turn of the event loop are worked off. Written one after
 * another they wake the peer once; written between the work each of them does, and under load that is a third of the time.
 * `promised`: those that a promise brings wait too, as it may be kept in this very turn.
 */
function answerTogether(handle: Handle, promised = false): Handle {
  let waiting: (() => void)[] = []
  const release = () => {
    const ready = waiting
    waiting = []
    for (const answer of ready) answer()
  }
  const inTurn = (response: Response) =>
    new Promise<Response>((resolve) => {
      if (waiting.push(() => resolve(response)) === 1) setImmediate(release)
    })
  return (request, env) => {
    const response = handle(request, env)
    if (!(response instanceof Promise)) return inTurn(response)
    return promised ? response.then(inTurn) : response
  }
}

const hasBody = (header: (name: string) => string | null | undefined): boolean =>
  (header('content-length') ?? '0') !== '0' || header('transfer-encoding') != null

/**
 * Node knows one time limit for all requests, that of an upload: the shorter one of every other body is kept here, whether or not
 * the body is read. Gives what lifts it; null where there is no body.
 */
function limitBodyTime(incoming: IncomingMessage, bodyMs: number): (() => void) | null {
  if (!hasBody((name) => incoming.headers[name] as string | undefined)) return null
  const timer = setTimeout(() => incoming.destroy(), bodyMs)
  const lift = () => clearTimeout(timer)
  incoming.once('close', lift)
  return lift
}

/**
 * Node makes requests of all that it finds in a read of 64 KB, thousands, even when the connection is ended by the first of them. Here
 * its parser gets small pieces, and none any more when more requests came in a read than may wait.
 */
function limitPerRead(server: Server, isProxy: Limits['isProxy'], begun: () => number): void {
  server.on('connection', (socket: Socket) => {
    if (isProxy(socket.remoteAddress)) return
    const [parse] = socket.listeners('data') as ((piece: Buffer) => void)[]
    if (parse === undefined) return
    socket.removeListener('data', parse)
    socket.on('data', (bytes: Buffer) => {
      const before = begun()
      for (let at = 0; at < bytes.length && !socket.destroyed; at += PIECE_BYTES) {
        // Nobody takes the body, or the answers, that came before.
        if (socket.isPaused()) return socket.unshift(bytes.subarray(at))
        parse(bytes.subarray(at, at + PIECE_BYTES))
        if (begun() - before > PIPELINED + 1) socket.destroy()
      }
    })
  })
}

/**
 * Node begins requests while the one before them is under way, and keeps their answers for a peer that takes none. Here a request of a
 * connection is begun when the one before it is answered; a connection on which too many wait is ended.
 */
function oneAtATime(listener: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>()
  return (incoming, outgoing) => {
    // A response has no connection until it is its turn to be written.
    if (outgoing.socket !== null) return listener(incoming, outgoing)
    const { socket } = incoming
    const before = waiting.get(socket) ?? 0
    if (before === PIPELINED) return socket.destroy()
    waiting.set(socket, before + 1)
    outgoing.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) as number) - 1)
      // What was kept for this response, as `100 Continue`, is written first.
      queueMicrotask(() => listener(incoming, outgoing))
    })
  }
}

async function serveNode(
  own: Handle,
  hostname: string,
  port: number,
  { bodyMs, silenceMs, isProxy, shared }: Limits,
): Promise<Listening> {
  const [{ createServer, IncomingMessage }, { getRequestListener }] = await Promise.all([
    import('node:http'),
    import('@hono/node-server'),
  ])
  const handle = answerTogether(own)
  const lifts = new WeakMap<IncomingMessage, () => void>()
  const peers = new WeakMap<Socket, string>()
  const listener = getRequestListener(
    (request, env) => {
      const { incoming } = env as { incoming: IncomingMessage }
      const { socket } = incoming
      const unhurried = () => {
        lifts.get(incoming)?.()
        socket.setTimeout(UPLOAD_TIMEOUT_MS)
      }
      return handle(request, { peer: peers.get(socket), unhurried })
    },
    { hostname },
  )
  let begun = 0
  // Also those that Node answers by itself.
  class Counted extends IncomingMessage {
    private pieces = 0
    private bytes = 0
    constructor(socket: Socket) {
      super(socket)
      begun++
    }
    override push(piece: Buffer | null): boolean {
      this.bytes += piece?.length ?? 0
      if (areTooMany(++this.pieces, this.bytes)) this.socket.destroy()
      return super.push(piece)
    }
  }
  const server = createServer(
    {
      IncomingMessage: Counted,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: UPLOAD_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 5000,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    oneAtATime(listener),
  )
  server.timeout = silenceMs
  // Noted at once: a connection that is reset has no address any more, and nobody's counts as that of a proxy.
  server.prependListener('connection', (socket: Socket) => {
    if (socket.remoteAddress === undefined) socket.destroy()
    else peers.set(socket, socket.remoteAddress)
  })
  limitPerRead(server, isProxy, () => begun)
  // Before anybody answers: what is no request to the adapter, as with a host that is none, never reaches us.
  server.prependListener('request', (incoming) => {
    const lift = limitBodyTime(incoming, bodyMs)
    if (lift) lifts.set(incoming, lift)
  })
  server.on('checkExpectation', (_incoming, outgoing) => {
    outgoing.writeHead(417, { Connection: 'close' }).end()
  })
  await new Promise<void>((listening, reject) => {
    server.on('error', reject)
    server.listen({ port, host: hostname, reusePort: shared }, listening)
  })
  return {
    port: (server.address() as AddressInfo).port,
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
  }
}

/**
 * Bun counts silence only, which a byte now and then ends, and cuts a connection by an answer alone: who reads a body is told when
 * its time is over, and an answer beside a body that nobody has read is the connection's last, as is one that took its time.
 */
async function answerOnBun(
  handle: Handle,
  request: Request,
  server: Bun.Server<unknown>,
  bodyMs: number,
): Promise<Response> {
  const late = hasBody((name) => request.headers.get(name)) ? new AbortController() : null
  const timer = late && setTimeout(() => late.abort(tooSlow()), bodyMs)
  const lift = () => timer && clearTimeout(timer)
  let isLast = false
  const unhurried = () => {
    lift()
    // Copying and checking a large database is a long silence.
    server.timeout(request, 0)
    isLast = true
  }
  const peer = server.requestIP(request)?.address
  // The connection has been reset. Nobody's address counts as that of a proxy.
  if (peer === undefined) return new Response(null, { status: 400 })
  try {
    const response = await handle(request, { peer, late: late?.signal, unhurried })
    if (isLast || (late && !request.bodyUsed)) response.headers.set('Connection', 'close')
    return response
  } finally {
    lift()
  }
}

async function serveBun(
  own: Handle,
  hostname: string,
  port: number,
  { bodyMs, silenceMs, shared }: Limits,
): Promise<Listening> {
  // Bun ends a connection with a request before the answer to its last. An answer that it has in the same turn lets it begin the next one of
  // the same read: a megabyte of requests, 37,000, held everybody up for 8 s.
  const handle = answerTogether(own, true)
  const server = Bun.serve({
    hostname,
    port,
    reusePort: shared,
    idleTimeout: silenceMs / SECOND_MS,
    maxRequestBodySize: MAX_BODY_BYTES,
    fetch(request, self) {
      // A Host header that is none leaves Bun with a relative URL, which nothing can parse.
      if (!request.url.startsWith('http')) {
        return new Response('bad request', { status: 400, headers: { Connection: 'close' } })
      }
      return answerOnBun(handle, request, self, bodyMs)
    },
  })
  return { port: server.port as number, close: () => server.stop() }
}

/** Starts listening. Throws the runtime's error when the port is taken. */
export function serve(
  handle: Handle,
  hostname: string,
  port: number,
  limits: Partial<Limits> = {},
): Promise<Listening> {
  const start = 'Bun' in globalThis ? serveBun : serveNode
  const bodies = createByteBudget(BODIES_BYTES)
  return start((request, env) => handle(request, { ...env, bodies }), hostname, port, {
    bodyMs: BODY_TIMEOUT_MS,
    silenceMs: SILENCE_MS,
    isProxy: () => false,
    shared: false,
    ...limits,
  })
}
