/** Which failures of a message mean that Telegram can't have got it. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createTelegram } from '#src/integrations/telegram.ts'
import { silentLog } from '#src/lib/log.ts'
import { freePort } from '#test/support/drivers/process.ts'

let server: Server | undefined
afterEach(() => server?.close())

async function listen(serve: (socket: Socket) => void): Promise<number> {
  const own = createServer((socket) => {
    socket.on('error', () => {})
    serve(socket)
  })
  server = own
  await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve))
  return (own.address() as AddressInfo).port
}

const send = (apiUrl: string) =>
  createTelegram({ apiUrl, log: silentLog, timeoutMs: 2000 }).sendMessage('1:token', {
    chatId: 1,
    html: 'x',
  })

test('a server that speaks no TLS has not got it', async () => {
  const port = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  expect(await send(`https://127.0.0.1:${port}`)).toMatchObject({ outcome: 'later' })
})

test('a server that refuses TLS has not got it', async () => {
  // RFC 8446, section 6: a fatal alert, handshake_failure.
  const alert = Buffer.from([21, 3, 3, 0, 2, 2, 40])
  const port = await listen((socket) => socket.once('data', () => socket.end(alert)))
  expect(await send(`https://127.0.0.1:${port}`)).toMatchObject({ outcome: 'later' })
})

test('a server that hangs up after the request may have got it', async () => {
  const port = await listen((socket) => socket.once('data', () => socket.destroy()))
  expect(await send(`http://127.0.0.1:${port}`)).toMatchObject({ outcome: 'unknown' })
})

test('a port where nobody listens has not got it', async () => {
  expect(await send(`http://127.0.0.1:${await freePort()}`)).toMatchObject({ outcome: 'later' })
})
