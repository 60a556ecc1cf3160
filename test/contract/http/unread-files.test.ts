/** Whoever asks for a file of rules and takes nothing of it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createApp } from '#src/http/app.ts'
import { type Listening, serve } from '#src/serve.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'

const MB = 1024 ** 2
/** As large as they may be. */
const FILE_BYTES = 8 * MB
const CONNECTIONS = 60

let w: FileWorld
let listening: Listening
const sockets: Socket[] = []
beforeEach(async () => {
  w = await createFileWorld()
  const folder = join(w.s.config.coresDir, 'rules')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'large.srs'),
    Buffer.concat([Buffer.from('SRS'), Buffer.alloc(FILE_BYTES - 3, 7)]),
  )
  listening = await serve(createApp(w.s, '/nonexistent', '/nonexistent'), '127.0.0.1', 0)
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await listening.close()
  w.close()
})

const ask = (path: string) =>
  new Promise<void>((answered) => {
    const socket = connect(listening.port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => {})
    socket.write(`GET ${path} HTTP/1.1\r\nHost: sub.test\r\n\r\n`)
    socket.once('readable', () => answered())
  })

test('a file takes a connection some pieces of memory, not itself', async () => {
  const url = `http://127.0.0.1:${listening.port}/rules/large.srs`
  const whole = await fetch(url, { headers: { host: 'sub.test' } })
  expect((await whole.arrayBuffer()).byteLength).toBe(FILE_BYTES)
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  await Promise.all(Array.from({ length: CONNECTIONS }, () => ask('/rules/large.srs')))
  await pause(500)
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * MB)
})
