import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Handle, type Listening, serve } from '#src/serve.ts'

/** In place of two minutes; Bun counts in steps of 4 s. */
const SILENCE_MS = 'Bun' in globalThis ? 5000 : 1500
/** Longer than any connection that ends takes on a busy machine. */
const FOREVER_MS = 20_000
/** More than the buffers of both ends of a connection hold. */
const CHUNKS = 400
const CHUNK = new Uint8Array(65_536)
const WHOLE = CHUNKS * CHUNK.length

/** Paths of the requests that reached the app. */
let arrived: string[]
/** Those whose answer nobody waits for any more. */
let ended: string[]
/** Lets the answer of `/slow` go. */
let release: () => void
let listening: Listening
let socket: Socket
beforeEach(async () => {
  arrived = []
  ended = []
  const slow = new Promise<void>((resolve) => {
    release = resolve
  })
  const handle: Handle = async (request, { unhurried }) => {
    const { pathname } = new URL(request.url)
    arrived.push(pathname)
    if (pathname === '/slow') await slow
    if (pathname === '/unhurried') {
      unhurried?.()
      await pause(2 * SILENCE_MS)
    }
    if (pathname !== '/download') return new Response(`answer ${pathname} `)
    let left = CHUNKS
    const body = new ReadableStream({
      async pull(controller) {
        if (left-- === 0) controller.close()
        else controller.enqueue(CHUNK)
      },
      cancel() {
        ended.push(pathname)
      },
    })
    return new Response(body)
  }
  listening = await serve(handle, '127.0.0.1', 0, { silenceMs: SILENCE_MS })
  socket = connect(listening.port, '127.0.0.1')
  socket.on('error', () => {})
})
afterEach(async () => {
  socket.destroy()
  release()
  await listening.close()
})

const ask = (...paths: string[]) =>
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`).join(''))

/** What comes back, whole or so far. */
function listen(): () => string {
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  return () => text
}

/** Resolves when the connection has been ended. */
const closing = () => new Promise<void>((resolve) => socket.on('close', () => resolve()))

const bodies = (answers: string) => answers.match(/answer \S+/g) ?? []

describe('requests sent before the answer to the one before them', () => {
  test('are answered in their order; Bun drops their connection', async () => {
    const isClosed = closing()
    const got = listen()
    ask('/slow', '/b', '/c')
    await expect.poll(() => arrived[0]).toBe('/slow')
    release()
    if ('Bun' in globalThis) {
      await isClosed
      expect(arrived).toEqual(['/slow'])
      return
    }
    await expect
      .poll(() => bodies(got()), { timeout: FOREVER_MS })
      .toEqual(['answer /slow', 'answer /b', 'answer /c'])
    ask('/d')
    await expect.poll(() => bodies(got()), { timeout: FOREVER_MS }).toContain('answer /d')
  })

  test('are begun one at a time, and few of them are kept', async () => {
    const isClosed = closing()
    listen()
    ask('/slow', ...Array.from({ length: 900 }, (_, at) => `/${at}`))
    await isClosed
    expect(arrived).toEqual(['/slow'])
  })
})

test('of thousands of requests in one read only a few reach the app, however soon they are answered', async () => {
  const isClosed = closing()
  listen()
  ask(...Array.from({ length: 2000 }, () => '/soon'))
  await isClosed
  expect(arrived.length).toBeLessThan(100)
})

// Bun has a parser of its own, and drops a connection that does not wait for its answer.
if (!('Bun' in globalThis)) {
  describe('of thousands of requests in one read', () => {
    test.each([
      ['whole ones', 'GET / HTTP/1.1\r\nHost:a\r\n\r\n'],
      ['ones without a host', 'GET / HTTP/1.1\r\n\r\n'],
      ['ones with an expectation', 'GET / HTTP/1.1\r\nHost:a\r\nExpect:a\r\n\r\n'],
    ])('%s, only a few are made', async (_what, request) => {
      let made = 0
      const count = () => {
        made++
      }
      subscribe('http.server.request.start', count)
      const CONNECTIONS = 40
      const send = () =>
        new Promise<void>((resolve) => {
          const sender = connect(listening.port, '127.0.0.1')
          sender.on('error', () => {})
          sender.on('close', () => resolve())
          sender.resume()
          sender.write(request.repeat(65_000 / request.length))
        })
      await Promise.all(Array.from({ length: CONNECTIONS }, send))
      unsubscribe('http.server.request.start', count)
      expect(made).toBeLessThan(100 * CONNECTIONS)
    })
  })
}

describe('an answer', () => {
  test('that its peer does not take is dropped', async () => {
    ask('/download')
    await expect.poll(() => ended, { timeout: FOREVER_MS }).toEqual(['/download'])
  })

  test('that is taken slowly comes whole', async () => {
    let taken = 0
    const startedAt = performance.now()
    socket.on('data', (bytes) => {
      taken += bytes.length
      socket.pause()
      setTimeout(() => socket.resume(), (bytes.length / WHOLE) * 3 * SILENCE_MS)
    })
    ask('/download')
    await expect.poll(() => taken, { timeout: 60_000 }).toBeGreaterThan(WHOLE)
    expect(performance.now() - startedAt).toBeGreaterThan(2 * SILENCE_MS)
  }, 90_000)

  test('that takes long to be made comes, for whom it may', async () => {
    const got = listen()
    ask('/unhurried')
    await expect.poll(() => bodies(got()), { timeout: FOREVER_MS }).toEqual(['answer /unhurried'])
  })
})
