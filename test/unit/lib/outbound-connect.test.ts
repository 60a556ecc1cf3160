import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import type { Node } from '#db/schema/index.ts'
import { createDial } from '#src/integrations/dial.ts'
import { createManagedCores } from '#src/integrations/nodes/managed-cores.ts'
import { generateManagementKey } from '#src/integrations/nodes/management-key.ts'
import { createSshThread } from '#src/integrations/nodes/ssh-thread.ts'
import { createConnect } from '#src/integrations/outbound-connect.ts'
import { silentLog } from '#src/lib/log.ts'

/** Everything that listens on this machine; whoever connects is counted. */
let visitors = 0
const server = createServer((socket) => {
  visitors++
  socket.on('error', () => {})
  socket.end()
})
server.listen(0)
await once(server, 'listening')
const { port } = server.address() as AddressInfo
afterAll(() => server.close())

const LOOPBACK = ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', 'localhost']
/** Spellings that the C library takes for 127.0.0.1. */
const SPELLINGS = ['2130706433', '0x7f.0.0.1', '0x7f000001', '127.1', '0177.0.0.1']
/** The same for 0.0.0.0, which leads to this machine. */
const ANYWHERE = ['0.0.0.0', '0', '0x0', '::', '::ffff:0.0.0.0']

const reaches = async (host: string, denyPrivate: boolean, resolve?: () => Promise<string[]>) => {
  const before = visitors
  const connect = createConnect({ denyPrivate, ...(resolve ? { resolve } : {}) })
  const alive = await createDial(connect)(host, port, 2000)
  await new Promise((done) => setTimeout(done, 20))
  expect(visitors - before).toBe(alive ? 1 : 0)
  return alive
}

describe('a port', () => {
  test.each([...LOOPBACK, ...SPELLINGS])(
    'at %s is tried unless private ones are denied',
    async (host) => {
      expect([await reaches(host, false), await reaches(host, true)]).toEqual([true, false])
    },
  )

  test.each(ANYWHERE)('at %s is never tried', async (host) => {
    expect([await reaches(host, false), await reaches(host, true)]).toEqual([false, false])
  })

  test.each(['169.254.169.254', 'fe80::1%lo', 'ff02::1', '2852039166', '0xa9.0xfe.0xa9.0xfe'])(
    'at %s is refused at once, not by its silence',
    async (host) => {
      const error = await once(createConnect({ denyPrivate: false })({ host, port }), 'error')
      expect(error).toMatchObject([{ code: 'EADDRREFUSED' }])
    },
  )

  test('of a name that changes its answer is tried where it was checked', async () => {
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['169.254.169.254', '127.0.0.1']]
    const resolve = async () => answers.shift() ?? []
    const tried = []
    for (let i = 0; i < 4; i++) tried.push(await reaches('rebinding.test', false, resolve))
    expect(tried).toEqual([true, false, true, false])
  })
})

test('SSH goes by the same rule', async () => {
  const { privateKey } = await generateManagementKey()
  const cores = createManagedCores({
    ssh: createSshThread({ denyPrivate: true, log: silentLog }),
    privateKey: async () => privateKey,
    hostKeysOf: () => ({ pinned: () => [], admit: async () => true }),
  })
  const node = { code: 'far', kind: 'managed', status: 'active', sshPort: port, sshUser: 'u' }
  const ask = async (address: string) =>
    cores.of({ ...node, address } as Node)?.program.metrics(2000)
  const before = visitors
  try {
    for (const address of ['127.0.0.1', '2130706433', 'localhost', '169.254.169.254']) {
      await expect(ask(address)).rejects.toThrow(
        `no SSH connection to ${address}:${port}: the address is not allowed`,
      )
    }
    expect(visitors).toBe(before)
  } finally {
    cores.close()
  }
})
