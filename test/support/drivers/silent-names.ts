/**
 * A shop with ten servers whose names nobody answers for, in a network of its own (`unshare --net --mount`, as root) where this process is the
 * name server; writes how each of its customers' orders at a gateway was answered, and after how many ms. Arguments: the runtime, and for
 * how many seconds a customer comes each half of one.
 */
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startFakeYookassa } from '../fakes/yookassa.ts'
import { createArea, PLAIN, type Runtime } from './process.ts'

const NODES = 10
const A = 1
const ANSWER_LENGTH = 16

/** Answers names of good.test with 127.0.0.1 and says nothing of others. */
async function startNameServer(): Promise<void> {
  const server = createSocket('udp4')
  server.on('message', (question, from) => {
    let at = 12
    const labels: string[] = []
    for (let length = question[at] as number; length > 0; length = question[at] as number) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length))
      at += length + 1
    }
    if (!labels.join('.').endsWith('.good.test')) return
    const isA = question.readUInt16BE(at + 1) === A
    const head = Buffer.from(question.subarray(0, at + 5))
    head.writeUInt16BE(0x8180, 2)
    head.writeUInt16BE(isA ? 1 : 0, 6)
    head.fill(0, 8, 12)
    const answer = Buffer.from('c00c000100010000003c00047f000001', 'hex')
    server.send(
      Buffer.concat([head, answer.subarray(0, isA ? ANSWER_LENGTH : 0)]),
      from.port,
      from.address,
    )
  })
  server.bind(53)
  await once(server, 'listening')
}

const [runtime, seconds] = process.argv.slice(2)
const yookassa = await startFakeYookassa({ 100500: 'live_a' })
const area = createArea({
  ...PLAIN,
  PAYMENTS_ENABLED: '1',
  PROVIDER_A_ENABLED: '1',
  PROVIDER_A_API_URL: yookassa.url.replace('127.0.0.1', 'pay.good.test'),
  PROVIDER_A_SHOP_ID: '100500',
  PROVIDER_A_SECRET_KEY: 'live_a',
})
execFileSync('ip', ['link', 'set', 'lo', 'up'])
writeFileSync(join(area.dir, 'resolv.conf'), 'nameserver 127.0.0.1\n')
execFileSync('mount', ['--bind', join(area.dir, 'resolv.conf'), '/etc/resolv.conf'])
await startNameServer()
const server = await area.startServer({ runtime: runtime as Runtime })
for (let i = 0; i < NODES; i++) {
  await server.admin('/nodes/provision-guide', { label: `n${i}`, address: `n${i}.evil.test` })
}
area.write(
  "update nodes set provisioning = 'active', status = 'active', enabled = 1 where kind = 'managed'",
)
area.write(
  `update nodes set kind = 'external', status = 'active', enabled = 1, provisioning = null, public_key = 'x',
     shared_uuid = '11111111-1111-4111-8111-111111111111' where kind = 'local'`,
)
const [{ code: node } = { code: '' }] = area.query("select code from nodes where kind = 'external'")

async function order(i: number): Promise<[status: number, ms: number]> {
  const { token } = (await server.admin('/users', { name: `c${i}` })).json
  const began = performance.now()
  const body = { node, plan: '1m', provider: 'provider_a' }
  const { status } = await server.call(`/api/cabinet/${token}/payments`, { body })
  return [status, Math.round(performance.now() - began)]
}

await server.admin('/sync', {})
const orders: ReturnType<typeof order>[] = []
for (let i = 0; i < 2 * Number(seconds); i++) {
  orders.push(order(i))
  await pause(500)
}
process.stdout.write(JSON.stringify(await Promise.all(orders)))
await Promise.race([server.stop(), pause(3000)])
await area.close()
await yookassa.close()
process.exit(0)
