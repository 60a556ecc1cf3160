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
  /** How long the answer takes. */
  delayMs?: number
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
  /** As new. */
  reset(): void
  close(): Promise<void>
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}

/** Starts a system that answers by `reply`. */
export async function startFakeSystem(reply: (asked: Asked) => Reply): Promise<FakeSystem> {
  const server = createServer(async (request, response) => {
    const asked: Asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers as Asked['headers'],
      body: await readBody(request),
    }
    system.asked.push(asked)
    const { status, json, delayMs } = reply(asked)
    if (delayMs) await new Promise((resolve) => setTimeout(resolve, delayMs))
    const text = json === undefined ? '' : JSON.stringify(json)
    if (system.mood) return MISBEHAVIOURS[system.mood](response, text)
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()))
  const system: FakeSystem = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    mood: null,
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
