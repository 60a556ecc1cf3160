/** Telegram and the receiver of events, as quick as they can be: everything sent to them is well. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const ANSWER = JSON.stringify({
  ok: true,
  result: { message_id: 1, id: 4242, is_bot: true, first_name: 'Bot', username: 'bench_bot' },
})
const POLL_MS = 20_000

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    if (request.url?.endsWith('/getUpdates')) {
      setTimeout(() => response.end('{"ok":true,"result":[]}'), POLL_MS).unref()
    } else response.end(ANSWER)
  })
})
server.listen(0, '127.0.0.1', () => {
  console.error(`sink listening port=${(server.address() as AddressInfo).port}`)
})
process.on('SIGTERM', () => process.exit(0))
