import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { Node, RetiredNode } from '#db/schema/index.ts'
import { createManagedCores } from '#src/integrations/nodes/managed-cores.ts'
import { generateManagementKey } from '#src/integrations/nodes/management-key.ts'
import { createSshThread } from '#src/integrations/nodes/ssh-thread.ts'
import { silentLog } from '#src/lib/log.ts'

const management = await generateManagementKey()
const cores = createManagedCores({
  ssh: createSshThread({ denyPrivate: false, log: silentLog }),
  privateKey: async () => management.privateKey,
  hostKeysOf: () => ({ pinned: () => [], admit: async () => false }),
})
afterEach(() => cores.close())

const node = (more: Partial<Node> = {}) =>
  ({
    code: 'far',
    kind: 'managed',
    status: 'active',
    address: '127.0.0.1',
    sshPort: 9,
    sshUser: 'subpanel',
    lastSeenAt: null,
    ...more,
  }) as Node

test('a managed node has one core of its name, whatever else of it changes', () => {
  const core = cores.of(node())
  expect(core?.name).toBe('far')
  expect(cores.of(node({ label: 'x', hostKey: 'y', port: 1, enabled: false }))).toBe(core)
  expect(cores.of(node({ code: 'near' }))).not.toBe(core)
})

test('the core of a node with the code `local` is not taken for the core of this machine', () => {
  expect(cores.of(node({ code: 'local' }))?.name).toBe('managed/local')
})

test.each([{ address: 'far.test' }, { sshPort: 2222 }, { sshUser: null }, { sshUser: 'root' }])(
  'another server is another core: %j',
  (more) => {
    const core = cores.of(node({ sshUser: 'admin' }))
    expect(cores.of(node({ sshUser: 'admin', ...more }))).not.toBe(core)
  },
)

test('a node that was forgotten gets another core', () => {
  const core = cores.of(node())
  cores.forget('far')
  expect(cores.of(node())).not.toBe(core)
})

test.each<[string, Partial<Node>]>([
  ['an external one', { kind: 'external' }],
  ['a local one', { kind: 'local' }],
  ['one that waits for its first activation', { status: 'pending' }],
  ['one whose first installation failed', { status: 'failed' }],
])('no core: %s', (_name, more) => {
  expect(cores.of(node(more))).toBeNull()
})

test.each(['pending', 'failed'] as const)(
  'a core while a server that was there before is set up again: %s',
  (status) => {
    expect(cores.of(node({ status, lastSeenAt: '2026-01-01T00:00:00' }))?.name).toBe('far')
  },
)

test('a core that was given up answers no more', async () => {
  const core = cores.of(node())
  cores.of(node({ address: '127.0.0.2' }))
  await expect(core?.program.metrics(1000)).rejects.toMatchObject({ failure: 'unreachable' })
})

test('a server that nobody reaches is told by its address', async () => {
  const at = '127.0.0.1:9'
  await expect(cores.of(node())?.program.metrics(10_000)).rejects.toMatchObject({
    failure: 'unreachable',
    message: expect.stringContaining(at),
  })
})

const retired = (code: string, port = 9) =>
  ({ code, address: '127.0.0.1', sshPort: port, sshUser: 'subpanel', hostKey: null }) as RetiredNode

test('the server of a deleted node may be visited twice at a time: neither visit ends the other', async () => {
  const first = cores.retired(retired('far'))
  const second = cores.retired(retired('near'))
  const visits = [first, second].map((program) =>
    expect(program.retire('p', 10_000)).rejects.toMatchObject({
      message: expect.stringContaining('127.0.0.1:9'),
    }),
  )
  await Promise.all(visits)
})

test('nothing is left of a visit: a node of the same code and place begins anew', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.resume().end('220 mail.test ESMTP\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const visited = cores.retired(retired('far', port))
  for (let visit = 0; visit < 2; visit++) {
    // A shell that was kept would still hold back for a second what it failed at.
    const arrived = once(server, 'connection')
    await expect(visited.retire('p', 3000)).rejects.toMatchObject({ failure: 'unreachable' })
    await arrived
  }
  const arrived = once(server, 'connection')
  await expect(cores.of(node({ sshPort: port }))?.program.metrics(3000)).rejects.toMatchObject({
    failure: 'unreachable',
  })
  await arrived
  // Waits for the connections that are open.
  await new Promise((resolve) => server.close(resolve))
})
