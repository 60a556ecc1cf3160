import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readAtMost } from '#src/lib/read-at-most.ts'
import { type Listening, serve } from '#src/serve.ts'

const LIMIT_BYTES = 262_144
/** Longer than any connection that ends takes on a busy machine. */
const FOREVER_MS = 15_000

let listening: Listening
/** Lets the answer of `/slow` go, which nobody reads the body for. */
let release: () => void
beforeEach(async () => {
  const slow = new Promise<void>((resolve) => {
    release = resolve
  })
  listening = await serve(
    async (request) => {
      if (request.url.endsWith('/slow')) await slow
      else return new Response(`${(await readAtMost(request.body, LIMIT_BYTES))?.length} bytes`)
      return new Response('late')
    },
    '127.0.0.1',
    0,
  )
})
afterEach(async () => {
  release()
  await listening.close()
})

/** Sends a body in so many chunks of so many bytes; what comes back until it is answered or cut. */
async function send(path: string, chunks: number, chunkBytes: number, end = '0\r\n\r\n') {
  const socket = connect(listening.port, '127.0.0.1')
  let answer = ''
  socket.on('error', () => {})
  const isOver = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
    socket.on('data', (bytes) => {
      answer += bytes
      if (answer.includes('bytes')) resolve()
    })
  })
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n`)
  socket.write(`${chunkBytes.toString(16)}\r\n${'x'.repeat(chunkBytes)}\r\n`.repeat(chunks) + end)
  await isOver
  socket.destroy()
  return answer
}

test.each([
  [200, 1],
  [1000, 100],
  [20, 13_000],
])('a body in %i chunks of %i bytes is read', async (chunks, chunkBytes) => {
  expect(await send('/read', chunks, chunkBytes)).toContain(`${chunks * chunkBytes} bytes`)
})

// Bun has a parser of its own, which keeps bytes and not chunks.
if (!('Bun' in globalThis)) {
  describe('a connection whose body comes in tiny chunks is ended', { timeout: FOREVER_MS }, () => {
    test.each(['/read', '/slow'])('whether or not it is read: %s', async (path) => {
      expect(await send(path, 2000, 1, '')).toBe('')
    })
  })
}
