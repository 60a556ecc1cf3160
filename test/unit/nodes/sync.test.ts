import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readSubscription, resumeSubscription } from '#db/subscriptions.ts'
import { syncNow } from '#src/domain/nodes/nodes.ts'
import { HOUR_MS } from '#src/lib/time.ts'
import { addNode, addSubscription, addUser, markRestored } from '#test/support/rows/records.ts'
import { createWorld, grantUser, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => w.close())

const sync = (force = false, remove = true) => w.s.nodeSync.syncAll({ force, remove })
const node = async () => (await w.admin('/admin/api/nodes')).json[0]
const verbs = () => w.node.calls.map((call) => call.verb)

/** Puts clients on the node that the database does not know. */
function strangers(count: number): string[] {
  const uuids = Array.from({ length: count }, () => crypto.randomUUID())
  for (const uuid of uuids) w.node.clients.set(uuid, 'de1')
  return uuids
}

describe('clients', () => {
  test('the first sync writes configuration and clients, the next costs one status', async () => {
    const { subscription } = await grantUser(w, 1)
    await sync()
    expect(w.node.config).toMatch(/^[0-9a-f]{64}$/)
    expect([...w.node.clients.keys()]).toEqual([subscription.uuid])
    w.node.calls.length = 0
    expect(await sync()).toEqual([{ code: 'de1', ok: true, added: 0, removed: 0, error: null }])
    expect(verbs()).toEqual(['status'])
  })

  test('a client that the node lost comes back, one that it should not have goes', async () => {
    const { subscription } = await grantUser(w, 1)
    await sync()
    w.node.clients.delete(subscription.uuid)
    strangers(1)
    expect((await sync())[0]).toMatchObject({ added: 1, removed: 1 })
    expect([...w.node.clients.keys()]).toEqual([subscription.uuid])
  })

  test('an expired subscription leaves the node at the next sync', async () => {
    const { subscription } = await grantUser(w, 1)
    w.clock.advance(30 * 24 * HOUR_MS - 1000)
    await sync()
    expect(w.node.clients.has(subscription.uuid)).toBe(true)
    w.clock.advance(1000)
    await sync()
    expect(w.node.clients.has(subscription.uuid)).toBe(false)
  })

  test('a node that does not answer keeps the error and is healed by the next sync', async () => {
    w.node.failure = 'unreachable'
    const { subscription } = await grantUser(w, 1)
    expect((await sync())[0]).toMatchObject({ ok: false, error: 'fake unreachable' })
    expect((await node()).last_error).toBe('fake unreachable')
    w.node.failure = null
    await sync()
    expect(w.node.clients.has(subscription.uuid)).toBe(true)
    expect((await node()).last_error).toBe(null)
  })

  test('a change that another process makes meanwhile is taken into account', async () => {
    await grantUser(w, 1)
    await sync()
    const { subscription } = await grantUser(w, 2)
    w.node.clients.clear()
    w.node.beforeApply = async () => {
      w.node.beforeApply = null
      strangers(1)
    }
    await sync()
    expect(w.node.clients.size).toBe(2)
    expect(w.node.clients.has(subscription.uuid)).toBe(true)
  })

  test('the last word is the database when a hold and a resume overtake each other', async () => {
    const { subscription } = await grantUser(w, 1)
    const path = `/admin/api/subscriptions/${subscription.uuid}`
    w.node.beforeApply = async () => {
      w.node.beforeApply = null
      await w.s.db.tx(function* (tx) {
        const found = yield* readSubscription(tx, subscription.uuid)
        yield* resumeSubscription(
          tx,
          subscription.uuid,
          found?.row.heldAt as string,
          found?.row.expiresAt as string,
        )
      })
    }
    await w.admin(`${path}/hold`, { method: 'POST' })
    expect(w.node.clients.has(subscription.uuid)).toBe(true)
  })

  test('many grants at once cost a handful of calls', async () => {
    await w.admin('/admin/api/me')
    w.node.calls.length = 0
    // The node is at its first call until all are granted, as a real one would be.
    const answering = Promise.withResolvers<void>()
    w.node.beforeApply = () => answering.promise
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        w.admin(`/admin/api/users/${i + 1}/grant`, { body: { node: 'de1', plan: '1m' } }),
      ),
    )
    answering.resolve()
    await w.s.background.idle()
    expect(w.node.clients.size).toBe(100)
    expect(w.node.calls.length).toBeLessThan(10)
  })
})

describe('removal brake', () => {
  test('more than 20 and more than half are held back, the alarm is on, additions go through', async () => {
    const { subscription } = await grantUser(w, 1)
    const uuids = strangers(21)
    w.node.clients.delete(subscription.uuid)
    expect((await sync())[0]).toMatchObject({ added: 1, removed: 0, error: 'removals held back' })
    expect(w.node.clients.size).toBe(22)
    expect((await node()).sync_blocked).toBe(true)
    expect(w.log.some((line) => line.includes('removals held back'))).toBe(true)
    for (const uuid of uuids.slice(0, 1)) w.node.clients.delete(uuid)
    expect((await sync())[0]).toMatchObject({ removed: 20 })
    expect((await node()).sync_blocked).toBe(false)
  })

  test('20 always pass, and so does half', async () => {
    strangers(20)
    expect((await sync())[0]).toMatchObject({ removed: 20 })
    for (let i = 1; i <= 30; i++) await grantUser(w, i)
    strangers(30)
    expect((await sync())[0]).toMatchObject({ removed: 30 })
  })

  test('force removes everything that does not belong there', async () => {
    strangers(100)
    const answer = await w.admin('/admin/api/sync', { body: { force: true } })
    expect(answer.json).toEqual({
      ok: true,
      nodes: [{ code: 'de1', ok: true, added: 0, removed: 100, error: null }],
    })
  })

  test('force that was asked for before a restore does not go on after it', async () => {
    strangers(100)
    const { program } = w.node
    const { status } = program
    program.status = async (...args) => {
      const answer = await status(...args)
      markRestored(w, 'restored', 'de1')
      return answer
    }
    await sync(true)
    expect(w.node.clients.size).toBe(100)
    program.status = status
    expect((await sync(true))[0]).toMatchObject({ removed: 100 })
  })

  /** Clients on the node whose subscriptions are on another one by now. */
  const moved = (count: number, node = 'nl') => {
    addUser(w, 9)
    return Array.from({ length: count }, () => {
      const uuid = addSubscription(w, 9, { node })
      w.node.clients.set(uuid, 'de1')
      return uuid
    })
  }

  test('whoever was moved to another node is no loss, whatever became of them there', async () => {
    addNode(w, 'nl')
    const uuids = moved(60)
    w.change('update subscriptions set active = 0 where uuid = ?', uuids[0])
    w.change('update subscriptions set expires_at = created_at where uuid = ?', uuids[1])
    strangers(20)
    expect((await sync())[0]).toMatchObject({ removed: 80, error: null })
  })

  test('whoever was another node’s already has come with the wrong server', async () => {
    addNode(w, 'nl')
    for (const uuid of moved(60)) w.node.clients.set(uuid, 'nl')
    expect((await sync())[0]).toMatchObject({ removed: 0, error: 'removals held back' })
  })

  test('of the others as many are held back as ever, while the moved ones go', async () => {
    addNode(w, 'nl')
    const uuids = moved(10)
    strangers(30)
    expect((await sync())[0]).toMatchObject({ removed: 10, error: 'removals held back' })
    expect(w.node.clients.size).toBe(30)
    for (const uuid of uuids) expect(w.node.clients.has(uuid)).toBe(false)
  })

  test('a subscription on a node that does not exist is no proof of a move', async () => {
    moved(60)
    expect((await sync())[0]).toMatchObject({ removed: 0, error: 'removals held back' })
  })

  test('after a clock jump a sync only adds', async () => {
    strangers(3)
    expect((await sync(false, false))[0]).toMatchObject({ removed: 0, error: null })
    expect(w.node.clients.size).toBe(3)
  })
})

describe('ownership', () => {
  test('a node of another instance loses no client and keeps its configuration without force', async () => {
    w.node.owner = 'another instance'
    strangers(5)
    const { subscription } = await grantUser(w, 1)
    await sync()
    expect(w.node.clients.size).toBe(6)
    expect(w.node.config).toBe('')
    await w.admin(`/admin/api/subscriptions/${subscription.uuid}/hold`, { method: 'POST' })
    expect(w.node.clients.size).toBe(6)
    await sync(true)
    expect(w.node.owner).toBe(w.s.instanceId())
    expect(w.node.clients.size).toBe(0)
  })
})

describe('local nodes', () => {
  test('a second local node is another inbound of the same core, a port taken twice is left out', async () => {
    const body = {
      label: 'B',
      kind: 'local',
      address: 'b.test',
      public_key: '',
      short_id: '',
      sni: 'b.test',
    }
    await w.admin('/admin/api/nodes', { body: { ...body, code: 'b', port: 8443 } })
    await w.admin('/admin/api/nodes', { body: { ...body, code: 'c', port: 443 } })
    const { subscription } = await grantUser(w, 1, 'b')
    await grantUser(w, 1, 'c')
    await sync()
    expect([...w.node.clients]).toEqual([[subscription.uuid, 'b']])
    const nodes = (await w.admin('/admin/api/nodes')).json
    expect(nodes[2].last_error).toContain('in use by another local node')
    expect(nodes[1].public_key).toMatch(/^[\w-]{43}$/)
  })
})

test('a sync that an admin asked for answers in time and goes on', async () => {
  const { subscription } = await grantUser(w, 1)
  await sync()
  w.node.clients.delete(subscription.uuid)
  let wake = () => {}
  const asleep = new Promise<void>((resolve) => {
    wake = resolve
  })
  w.node.beforeApply = () => asleep
  const answer = await syncNow(w.s, { admin: 'admin', ip: '' }, false, 5)
  const error = 'not done within 0.005 s, it goes on'
  expect(answer).toEqual([{ code: 'de1', ok: false, added: 0, removed: 0, error }])
  wake()
  await w.s.background.idle()
  expect([...w.node.clients.keys()]).toEqual([subscription.uuid])
})
