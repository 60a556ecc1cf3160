/** Texts of any length as bodies of answers, over a connection. */
import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { textBody } from '#src/http/text-body.ts'
import { type Listening, serve } from '#src/serve.ts'

const LENGTHS = [0, 100, 5119, 5120, 15_359, 15_360, 16_384, 26_000, 300_000]
const HEADERS = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`x-${i}`, `value ${i}`]))

const textOf = (request: Request | string) => {
  const [unit = '', length] = decodeURIComponent(String(request)).split('/').slice(-2)
  return unit.repeat(Number(length))
}

let listening: Listening
beforeEach(async () => {
  const handle = ({ url }: Request) => new Response(textBody(textOf(url)), { headers: HEADERS })
  listening = await serve(handle, '127.0.0.1', 0)
})
afterEach(() => listening.close())

test.each(LENGTHS)('one of %i characters comes whole', async (length) => {
  for (const unit of ['a', 'ж', '🚀']) {
    const path = `/${unit}/${length}`
    const response = await fetch(`http://127.0.0.1:${listening.port}${path}`)
    expect(response.headers.get('x-19')).toBe('value 19')
    expect((await response.text()) === textOf(path)).toBe(true)
  }
})

/** The first that comes of an answer. */
const firstPiece = (path: string) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect(listening.port, '127.0.0.1')
    socket.on('error', reject)
    socket.once('data', (bytes) => {
      resolve(bytes.toString())
      socket.destroy()
    })
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`)
  })

test('a head comes in one piece, however long the body is', async () => {
  for (const length of LENGTHS) expect(await firstPiece(`/a/${length}`)).toContain('\r\n\r\n')
})
