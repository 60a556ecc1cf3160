import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createOutbound } from '#src/integrations/outbound.ts'
import { fromUtf8 } from '#src/lib/encoding.ts'
import { type Mood, startFakeSystem } from '#test/support/fakes/system.ts'

const system = await startFakeSystem((asked) => ({ status: 201, json: asked }))
const { port } = new URL(system.url)
beforeEach(() => system.reset())
afterAll(() => system.close())

interface How {
  addresses?: string[]
  denyPrivate?: boolean
  host?: string
  path?: string
  timeoutMs?: number
  maxBytes?: number
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
}

/** Sends to a name that resolves to `addresses`; gives the answer and how often the name was looked up. */
async function send(how: How = {}) {
  const lookedUp: string[] = []
  const outbound = createOutbound({
    denyPrivate: how.denyPrivate ?? false,
    resolve: async (host) => {
      lookedUp.push(host)
      return how.addresses ?? ['127.0.0.1']
    },
  })
  const answer = await outbound({
    method: how.method ?? 'GET',
    url: `http://${how.host ?? 'hook.test'}:${port}${how.path ?? '/in'}`,
    headers: how.headers ?? {},
    ...(how.body === undefined ? {} : { body: how.body }),
    signal: AbortSignal.timeout(how.timeoutMs ?? 5000),
    maxBytes: how.maxBytes ?? 65_536,
  })
  return { ...answer, text: fromUtf8(answer.body), lookedUp }
}

describe('a request', () => {
  test('arrives as it was given, with the name as Host, after one look-up', async () => {
    const body = '{"ключ":"value"}'
    const answer = await send({ method: 'POST', body, headers: { 'x-signature': 'abc' } })
    expect([answer.status, answer.complete, answer.lookedUp]).toEqual([201, true, ['hook.test']])
    expect(JSON.parse(answer.text)).toMatchObject({
      method: 'POST',
      path: '/in',
      body,
      headers: { host: `hook.test:${port}`, 'x-signature': 'abc' },
    })
  })

  test('is looked up and checked anew each time', async () => {
    const turns = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']]
    const outbound = createOutbound({
      denyPrivate: false,
      resolve: async () => turns.shift() ?? [],
    })
    const go = () =>
      outbound({
        method: 'GET',
        url: `http://rebinding.test:${port}/`,
        signal: AbortSignal.timeout(5000),
        maxBytes: 1000,
      })
    expect((await go()).status).toBe(201)
    await expect(go()).rejects.toMatchObject({ code: 'EADDRREFUSED' })
    expect((await go()).status).toBe(201)
    expect(system.asked).toHaveLength(2)
  })

  test.each([
    [['169.254.169.254'], false],
    [['fe80::1', '0.0.0.0'], false],
    [['127.0.0.1', '10.0.0.1', '::1'], true],
    [[], false],
    [['no address'], false],
  ])('goes nowhere when the name resolves to %j, private denied: %s', async (addresses, deny) => {
    await expect(send({ addresses, denyPrivate: deny })).rejects.toMatchObject({
      code: 'EADDRREFUSED',
    })
    expect(system.asked).toEqual([])
  })

  test('goes to the one allowed address of several', async () => {
    const answer = await send({ addresses: ['169.254.169.254', 'ff02::1', '127.0.0.1'] })
    expect(answer.status).toBe(201)
  })

  test.each(['169.254.169.254', '[fe80::1]', '2852039166', '0.0.0.0'])(
    'to http://%s is refused without a look-up',
    async (host) => {
      await expect(send({ host })).rejects.toMatchObject({ code: 'EADDRREFUSED' })
    },
  )

  test('to a literal address is sent there, unless private ones are denied', async () => {
    expect((await send({ host: '127.0.0.1' })).lookedUp).toEqual([])
    await expect(send({ host: '127.0.0.1', denyPrivate: true })).rejects.toMatchObject({
      code: 'EADDRREFUSED',
    })
  })

  test('resolves real names by itself', async () => {
    const outbound = createOutbound({ denyPrivate: false })
    const url = `http://localhost:${port}/`
    const answer = await outbound({
      method: 'GET',
      url,
      signal: AbortSignal.timeout(5000),
      maxBytes: 1000,
    })
    expect(answer.status).toBe(201)
  })
})

describe('an answer', () => {
  const inMood = (mood: Mood, how: How = {}) => {
    system.mood = mood
    return send(how)
  }

  test('that redirects is not followed', async () => {
    expect((await inMood('redirecting')).status).toBe(302)
    expect(system.asked).toHaveLength(1)
  })

  test('is cut at the limit, and the rest is not read', async () => {
    const answer = await inMood('ten megabytes', { maxBytes: 1000 })
    expect([answer.body.length, answer.complete]).toEqual([1000, false])
  })

  test('of just the limit is complete', async () => {
    const { length } = (await inMood('html')).body
    const answer = await send({ maxBytes: length })
    expect([answer.body.length, answer.complete]).toEqual([length, true])
    expect((await send({ maxBytes: length - 1 })).complete).toBe(false)
  })

  test.each(['silent', 'dripping'] as const)(
    'that is %s ends with the time given',
    async (mood) => {
      const began = performance.now()
      await expect(inMood(mood, { timeoutMs: 150 })).rejects.toThrow()
      expect(performance.now() - began).toBeLessThan(1500)
    },
  )

  test.each(['hanging up', 'breaking off'] as const)('that is %s is none', async (mood) => {
    await expect(inMood(mood)).rejects.toThrow()
  })
})

test('an answer of another protocol is none', async () => {
  const server = createServer((request) => {
    request.socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const outbound = createOutbound({ denyPrivate: false })
  const answer = outbound({
    method: 'POST',
    url: `http://127.0.0.1:${port}/`,
    headers: {},
    body: '{}',
    signal: AbortSignal.timeout(5000),
    maxBytes: 100,
  })
  await expect(answer).rejects.toThrow('another protocol')
  server.close()
})

test.each([
  { bytes: 1, count: 100_000, complete: false },
  { bytes: 1, count: 200, complete: true },
  { bytes: 100, count: 1000, complete: true },
])('an answer of $count pieces of $bytes bytes is read to its end: $complete', async (made) => {
  const server = createServer((_request, response) => {
    const piece = `${made.bytes.toString(16)}\r\n${' '.repeat(made.bytes)}\r\n`
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
    response.socket?.end(`${head}${piece.repeat(made.count)}0\r\n\r\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const outbound = createOutbound({ denyPrivate: false })
  const answer = await outbound({
    method: 'GET',
    url: `http://127.0.0.1:${port}/`,
    signal: AbortSignal.timeout(5000),
    maxBytes: 200_000,
  })
  server.close()
  expect(answer.complete).toBe(made.complete)
  if (made.complete) expect(answer.body.length).toBe(made.bytes * made.count)
})

test('what the answer says of the next request is handed on', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(429, { 'retry-after': '17' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const outbound = createOutbound({ denyPrivate: false })
  const answer = await outbound({
    method: 'GET',
    url: `http://127.0.0.1:${port}/`,
    signal: AbortSignal.timeout(5000),
    maxBytes: 100,
  })
  server.close()
  expect([answer.status, answer.retryAfter]).toEqual([429, '17'])
})
