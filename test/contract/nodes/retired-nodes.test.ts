/** Servers of deleted nodes: cleaned as soon as they answer, seen by admins until then, and left alone after 30 days. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cleanRetiredNodes } from '#src/domain/nodes/retired.ts'
import { DAY_MS, HOUR_MS } from '#src/lib/time.ts'
import { addNode, auditOf, markRestored, nowOf } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const NODES = '/admin/api/nodes'

let w: World
beforeEach(async () => {
  w = await createWorld({ environment: { ADMIN_TG_IDS: '501' } })
})
afterEach(() => w.close())

const SERVER = {
  kind: 'managed',
  private_key: 'K'.repeat(43),
  address: '192.0.2.7',
  ssh_port: 2222,
  ssh_user: 'subpanel',
  host_key: 'ssh-ed25519 AAAA',
}

/** A managed node that was reached before, and its server with a client. */
async function serving(code = 'nl') {
  addNode(w, code, SERVER)
  const node = w.remote(code)
  await w.s.nodeSync.syncAll({ force: false, remove: true })
  node.clients.set(crypto.randomUUID(), code)
  node.calls.length = 0
  return node
}

const remove = async (code = 'nl') => {
  const answer = await w.admin(`${NODES}/${code}`, { method: 'DELETE' })
  expect(answer.json).toEqual({ ok: true })
}
const retired = async () => (await w.admin(`${NODES}/retired`)).json
const clean = () => cleanRetiredNodes(w.s)
const verbs = (node: World['node']) => node.calls.map(({ verb }) => verb)
const alerts = () => w.rows('select payload from outbox').map((row) => JSON.parse(row.payload))

test('the server of a deleted node is cleaned, and then forgotten', async () => {
  const node = await serving()
  await remove()
  const at = nowOf(w)
  expect(await retired()).toEqual([
    {
      code: 'nl',
      address: '192.0.2.7',
      ssh_port: 2222,
      tries: 0,
      next_try_at: at,
      last_error: null,
      created_at: at,
    },
  ])
  await clean()
  expect([verbs(node), node.clients.size]).toEqual([['retire'], 0])
  expect(await retired()).toEqual([])
  const [, entry] = w.rows('select admin, ip, action, object, detail from audit_log order by id')
  expect(entry).toEqual({
    admin: null,
    ip: 'scheduler',
    action: 'node.retire',
    object: 'nl',
    detail: 'address=192.0.2.7 ssh_port=2222',
  })
  await clean()
  expect(verbs(node)).toEqual(['retire'])
})

test('its keys and account are those of the node', async () => {
  await serving()
  await remove()
  expect(w.rows('select ssh_user, host_key from retired_nodes')).toEqual([
    { ssh_user: 'subpanel', host_key: 'ssh-ed25519 AAAA' },
  ])
})

test.each([
  ['an external node', { kind: 'external' }],
  ['a node that was never set up', { host_key: null, status: 'pending' }],
])('nothing is remembered of %s', async (_name, more) => {
  addNode(w, 'nl', { ...SERVER, ...more })
  await remove()
  expect(await retired()).toEqual([])
})

describe('a server that does not answer', () => {
  test('is tried after 5, 10, 20 … s, at most an hour, and says why', async () => {
    const node = await serving()
    node.failure = 'unreachable'
    await remove()
    const waits: number[] = []
    let last = w.clock.monotonicMs()
    for (let second = 0; second < 4 * 3600; second += 5) {
      const before = node.calls.length
      await clean()
      if (node.calls.length > before) {
        waits.push((w.clock.monotonicMs() - last) / 1000)
        last = w.clock.monotonicMs()
      }
      w.clock.advance(5000)
    }
    expect(waits).toEqual([0, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600])
    expect(await retired()).toMatchObject([{ tries: 13, last_error: 'fake unreachable' }])
    expect(w.log.filter((line) => line.includes('not cleaned yet'))).toHaveLength(1)
    node.failure = null
    w.clock.advance(HOUR_MS)
    await clean()
    expect([node.clients.size, await retired()]).toEqual([0, []])
  })

  test('is left alone after 30 days, and the admins are told once', async () => {
    const node = await serving()
    node.failure = 'timeout'
    await remove()
    w.clock.advance(30 * DAY_MS - 1000)
    await clean()
    expect([(await retired()).length, alerts()]).toEqual([1, []])
    w.clock.advance(HOUR_MS)
    await clean()
    await clean()
    expect(await retired()).toEqual([])
    expect(alerts()).toEqual([{ about: 'server-not-cleaned', node: 'nl', address: '192.0.2.7' }])
    expect(auditOf(w).at(-1)).toBe('node.retire-fail')
  })

  test('delays no other', async () => {
    const slow = await serving()
    const { promise, resolve } = Promise.withResolvers<void>()
    slow.program.retire = () => promise
    await remove()
    addNode(w, 'fr', { ...SERVER, address: '192.0.2.8' })
    const other = w.remote('fr')
    await remove('fr')
    const under = clean()
    await expect.poll(() => verbs(other)).toEqual(['retire'])
    resolve()
    await under
    expect(await retired()).toEqual([])
  })
})

test('a server that another panel owns by now is not ours to clean', async () => {
  const node = await serving()
  await remove()
  const { NodeError } = await import('#src/lib/errors.ts')
  node.program.retire = async () => {
    throw new NodeError('owner', 'another panel owns this node')
  }
  await clean()
  expect(await retired()).toEqual([])
})

describe('a server that is a node again', () => {
  test('is not cleaned, and the matter is over when it is set up', async () => {
    const node = await serving()
    node.failure = 'unreachable'
    await remove()
    await clean()
    node.failure = null
    addNode(w, 'again', { ...SERVER, status: 'pending', ssh_port: 22 })
    node.calls.length = 0
    w.clock.advance(HOUR_MS)
    await clean()
    expect([verbs(node), (await retired()).length]).toEqual([[], 1])
    w.change("update nodes set status = 'active', ssh_port = 2222 where code = 'again'")
    w.clock.advance(HOUR_MS)
    await clean()
    expect([verbs(node), await retired()]).toEqual([[], []])
    expect(w.rows('select action, detail from audit_log order by id desc limit 1')).toEqual([
      { action: 'node.retire-cancel', detail: 'address=192.0.2.7 ssh_port=2222 node=again' },
    ])
  })

  test('is cleaned after all when what was to be set up there is given up', async () => {
    const node = await serving()
    await remove()
    addNode(w, 'again', { ...SERVER, status: 'pending', host_key: null, ssh_port: 22 })
    await clean()
    await remove('again')
    w.clock.advance(HOUR_MS)
    await clean()
    expect([node.clients.size, await retired()]).toEqual([0, []])
  })

  test('behind the same address, by another port of sshd, keeps nobody from being cleaned', async () => {
    const node = await serving()
    await remove()
    addNode(w, 'other', { ...SERVER, ssh_port: 22, host_key: 'ssh-ed25519 BBBB' })
    w.clock.advance(HOUR_MS)
    await clean()
    expect(verbs(node)).toEqual(['retire'])
  })

  test('by another name, which its host key gives away, is left alone', async () => {
    const node = await serving()
    await remove()
    addNode(w, 'again', { ...SERVER, address: 'nl.example.com', ssh_port: 22 })
    w.clock.advance(HOUR_MS)
    await clean()
    expect([verbs(node), await retired()]).toEqual([[], []])
  })
})

test('two deleted nodes of one name with two servers are both cleaned', async () => {
  const node = await serving()
  node.failure = 'unreachable'
  await remove()
  addNode(w, 'nl', { ...SERVER, address: '192.0.2.8' })
  await remove()
  expect((await retired()).length).toBe(2)
  node.failure = null
  await clean()
  expect([verbs(node), await retired()]).toEqual([['retire', 'retire'], []])
})

test('after a restore nothing is cleaned until an admin sends force', async () => {
  const node = await serving()
  await remove()
  markRestored(w, 'generation', 'de1')
  await clean()
  expect(verbs(node)).toEqual([])
  await w.admin('/admin/api/sync', { body: { force: true } })
  await clean()
  expect(verbs(node)).toEqual(['retire'])
})
