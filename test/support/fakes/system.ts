/** An outside system on loopback that answers as documented, or misbehaves as real ones do. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Asked {
  method: string
  path: string
  headers: Record<string, string | undefined>
  body: string
}

export interface Reply {
  status: number
  json?: unknown
  headers?: Record<string, string>
  /** How long the answer takes. */
  delayMs?: number
  /** What is wrong with this answer alone. */
  mood?: Mood | undefined
}

/** What only some systems look at. */
export interface Connection {
  bytes: Buffer
  /** Aborted when the client has gone before the answer. */
  gone: AbortSignal
}

type Misbehaviour = (response: ServerResponse, text: string) => void

const HTML = '<html><body><h1>502 Bad Gateway</h1></body></html>'

/** Sends the text after `bytes` of blanks. */
function pour(response: ServerResponse, bytes: number, text: string): void {
  const blanks = Buffer.alloc(65_536, ' ')
  let left = bytes
  const more = () => {
    while (left > 0) {
      left -= blanks.length
      if (!response.write(blanks)) return void response.once('drain', more)
    }
    response.end(text)
  }
  more()
}

/** How outside systems fail; `text` is what they would have answered. */
export const MISBEHAVIOURS = {
  silent: () => {},
  dripping: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(timer))
  },
  garbage: (response) => response.end(Buffer.from([0xff, 0x00, 0x7b, 0xc3, 0x28])),
  html: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(HTML),
  'a gateway error': (response) => response.writeHead(502).end(HTML),
  'no body': (response) => response.end(),
  'a JSON list': (response) => response.end('[]'),
  redirecting: (response, text) => response.writeHead(302, { location: '/elsewhere' }).end(text),
  'ten megabytes': (response, text) => pour(response, 10_000_000, text),
  'hanging up': (response) => response.destroy(),
  'breaking off': (response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('{"ok":true', () => response.destroy())
  },
} as const satisfies Record<string, Misbehaviour>
export type Mood = keyof typeof MISBEHAVIOURS

export interface FakeSystem {
  url: string
  /** What was asked of it, oldest first. */
  asked: Asked[]
  /** What is wrong with it; null: nothing. */
  mood: Mood | null
  /** Cuts all connections. */
  cut(): void
  /** As new. */
  reset(): void
  close(): Promise<void>
}

/** The body; null when the client went away in the middle of it. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk)
  } catch {
    return null
  }
  return Buffer.concat(chunks)
}

/** Starts a system that answers by `reply`. */
export async function startFakeSystem(
  reply: (asked: Asked, connection: Connection) => Reply | Promise<Reply>,
): Promise<FakeSystem> {
  const server = createServer(async (request, response) => {
    const bytes = await readBody(request)
    if (!bytes) return
    const asked: Asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers as Asked['headers'],
      body: bytes.toString(),
    }
    system.asked.push(asked)
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const { status, json, headers, delayMs, mood } = await reply(asked, {
      bytes,
      gone: gone.signal,
    })
    if (delayMs) await new Promise((resolve) => setTimeout(resolve, delayMs))
    const text = json === undefined ? '' : JSON.stringify(json)
    const wrong = mood ?? system.mood
    if (wrong) return MISBEHAVIOURS[wrong](response, text)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()))
  const system: FakeSystem = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    mood: null,
    cut: () => server.closeAllConnections(),
    reset() {
      system.asked.length = 0
      system.mood = null
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
  return system
}
