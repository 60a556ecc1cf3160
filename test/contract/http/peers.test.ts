/** Whose address a request has: nobody's would count as that of a proxy, whose word on addresses is taken. */
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pause } from '#src/lib/pause.ts'
import { type Listening, serve } from '#src/serve.ts'

const peers: (string | undefined)[] = []
let listening: Listening
beforeAll(async () => {
  const handle = (_request: Request, { peer }: { peer: string | undefined }) => {
    peers.push(peer)
    return new Response('ok')
  }
  listening = await serve(handle, '127.0.0.1', 0)
})
afterAll(() => listening.close())

test('a connection that is reset right after its request has the address that it came from, or is not answered', async () => {
  for (let i = 0; i < 40; i++) {
    await new Promise<void>((sent) => {
      const socket = connect(listening.port, '127.0.0.1', () => {
        socket.write('GET / HTTP/1.1\r\nHost: a.test\r\nX-Real-IP: 203.0.113.9\r\n\r\n', () => {
          socket.resetAndDestroy()
          sent()
        })
      })
      socket.on('error', () => {})
    })
    // The server's loop is in this process: it meets the request and its end together.
    const until = performance.now() + 3
    while (performance.now() < until);
    await pause(2)
  }
  await (await fetch(`http://127.0.0.1:${listening.port}/`)).text()
  expect(new Set(peers)).toEqual(new Set(['127.0.0.1']))
})
