import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createApp } from '#src/http/app.ts'
import { type Listening, serve } from '#src/serve.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import { SESSION } from '#test/support/worlds/world.ts'

/** In place of 30 s. */
const BODY_MS = 500
const EVERY_MS = 100
/** Longer than any connection that ends takes on a busy machine. */
const FOREVER_MS = 15_000

let w: FileWorld
let listening: Listening
let socket: Socket
/** Requests that reached the app. */
let arrived: number
beforeEach(async () => {
  w = await createFileWorld()
  arrived = 0
  const app = createApp(w.s, '/nonexistent', '/nonexistent')
  const counted: typeof app = (request, env) => {
    arrived++
    return app(request, env)
  }
  listening = await serve(counted, '127.0.0.1', 0, { bodyMs: BODY_MS })
})
afterEach(async () => {
  socket.destroy()
  await listening.close()
  w.close()
})

/** Sends a byte of a long body now and then; gives what came back, and whether the connection ended. */
async function trickle(request: string, more: Record<string, string> = {}, forMs = FOREVER_MS) {
  const headers = { Host: 'panel.test', 'Content-Length': '60000', ...more }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket = connect(listening.port, '127.0.0.1')
  socket.write(`${request} HTTP/1.1\r\n${lines.join('')}\r\n`)
  let answer = ''
  socket.on('data', (bytes) => {
    answer += bytes
  })
  socket.on('error', () => {})
  const timer = setInterval(() => socket.write('a'), EVERY_MS)
  const isEnded = await new Promise<boolean>((resolve) => {
    socket.on('close', () => resolve(true))
    setTimeout(() => resolve(false), forMs)
  })
  clearInterval(timer)
  return { answer, isEnded }
}

const COOKIE = `panel_admin=${SESSION}`
const RESTORE = '/admin/api/backup/restore'

describe('whoever has no session is gone when the time for a body is over', () => {
  test.each([
    `POST ${RESTORE}`,
    `GET ${RESTORE}`,
    `HEAD ${RESTORE}`,
    `GET ${RESTORE}X`,
    `POST ${RESTORE}?a=b`,
    `POST ${RESTORE}/`,
    'GET /admin/api/backup',
    `GET /healthz?${RESTORE}`,
    'POST /admin/api/login',
    'POST /admin/api/logout',
    'POST /payments/webhook/provider_b',
    'POST /nowhere',
  ])('%s', async (request) => {
    expect((await trickle(request)).isEnded).toBe(true)
  })

  test('also when the cookie is nobody’s', async () => {
    const { isEnded } = await trickle(`POST ${RESTORE}`, { Cookie: 'panel_admin=nobody' })
    expect(isEnded).toBe(true)
  })

  test('also with a session, but for a backup', async () => {
    const { isEnded } = await trickle('POST /admin/api/settings/brand', { Cookie: COOKIE })
    expect(isEnded).toBe(true)
  })
})

describe('whatever it is that nobody but the runtime answers ends as well', () => {
  test.each([
    ['a host that is none', 'POST /nowhere', { Host: 'a b<' }],
    ['half an address', 'POST /nowhere', { Host: '[' }],
    ['an unknown scheme', 'POST /nowhere', { Host: 'a:b:c' }],
    ['a URL that is none', 'POST http://[/', {}],
    ['a request for the whole server', 'OPTIONS *', {}],
    ['an expectation', 'POST /nowhere', { Expect: 'foo' }],
  ])('%s', async (_what, request, headers: Record<string, string>) => {
    expect((await trickle(request, headers)).isEnded).toBe(true)
  })
})

test('an admin’s archive comes as slowly as their line is', async () => {
  const form = { 'Content-Type': 'multipart/form-data; boundary=x', Cookie: COOKIE }
  const slow = await trickle(`POST ${RESTORE}`, form, 6 * BODY_MS)
  expect(slow).toEqual({ answer: '', isEnded: false })
  socket.destroy()
  await expect.poll(() => w.files('work'), { timeout: FOREVER_MS }).toEqual([])
})

test('a client that goes away in the middle of its body leaves no fault in the log', async () => {
  const cutOff = () => w.log.filter((line) => line.includes('in the middle of its body'))
  const paths = ['/admin/api/login', '/payments/webhook/provider_b', RESTORE]
  for (const [at, path] of paths.entries()) {
    socket = connect(listening.port, '127.0.0.1')
    const head = `POST ${path} HTTP/1.1\r\nHost: panel.test\r\nCookie: ${COOKIE}\r\n`
    const type = 'Content-Type: multipart/form-data; boundary=x\r\n'
    socket.write(`${head}${type}Content-Length: 1000\r\n\r\n--x`)
    await expect.poll(() => arrived, { timeout: FOREVER_MS }).toBe(at + 1)
    socket.destroy()
    await expect.poll(cutOff, { timeout: FOREVER_MS }).toHaveLength(at + 1)
  }
  expect(w.log.filter((line) => / (?:error|warn) /.test(line))).toEqual([])
})
