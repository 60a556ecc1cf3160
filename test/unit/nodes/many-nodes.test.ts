/** Many cores in one process: none waits for another, and what one misses is made up for within seconds. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createNodeSync } from '#src/domain/nodes/sync/sync.ts'
import { NodeError } from '#src/lib/errors.ts'
import type { NodeSync } from '#src/ports/node-sync.ts'
import { addNode, addSubscription, addUser } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
  addUser(w, 7)
})
afterEach(() => w.close())

const SECOND = 1000

/** A managed node with its server. */
function managed(code: string) {
  addNode(w, code, { kind: 'managed', private_key: 'K'.repeat(43) })
  return w.remote(code)
}

/** A server that takes calls and answers none until it is woken; then they fail, as they would after their time. */
function freeze(node: World['node']) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { program } = node
  const before = { ...program }
  let calls = 0
  const hang = async () => {
    calls++
    await promise
    throw new NodeError('timeout', 'frozen')
  }
  Object.assign(program, { status: hang, apply: hang, configure: hang, metrics: hang })
  return {
    calls: () => calls,
    async wake() {
      Object.assign(program, before)
      resolve()
      await w.s.background.idle()
    },
  }
}

const passAll = () => w.s.nodeSync.syncAll({ force: false, remove: true })
/** The local node was given its configuration only now, and is looked at again for that. */
const behind = () =>
  w
    .rows("select code from nodes where behind > 0 and code <> 'de1' order by code")
    .map(({ code }) => code)
const statuses = (node: World['node']) => node.calls.filter(({ verb }) => verb === 'status').length

/** Another process on the same database. */
const otherProcess = (): NodeSync => {
  const { db, clock, log, config, cores, instanceId, background } = w.s
  return createNodeSync({ db, clock, log, config, cores, instanceId, background })
}

/** Time passes in which the scheduler looks every second; when it began passes over a node, in seconds from now. */
async function triesWithin(seconds: number, node: World['node'], sync = w.s.nodeSync) {
  const times: number[] = []
  for (let second = 0; second <= seconds; second++) {
    if (second > 0) w.clock.advance(SECOND)
    const before = statuses(node)
    sync.retryBehind({ remove: true })
    await w.s.background.idle()
    if (statuses(node) > before) times.push(second)
  }
  return times
}

describe('a node that never answers', () => {
  test('delays no pass over the others, however many come', async () => {
    const dead = managed('dead')
    const nodes = ['a', 'b', 'c'].map(managed)
    await passAll()
    const frozen = freeze(dead)
    for (const node of [dead, ...nodes]) node.calls.length = 0
    for (let tick = 1; tick <= 20; tick++) {
      w.s.background.run('tick', passAll)
      const uuid = addSubscription(w, 7, { node: 'b' })
      const [b] = await w.s.nodeSync.syncAll({ force: false, remove: true, only: ['b'] })
      expect(b).toMatchObject({ code: 'b', ok: true })
      expect(nodes[1]?.clients.has(uuid)).toBe(true)
    }
    for (const node of nodes) expect(statuses(node)).toBeGreaterThanOrEqual(2)
    // One pass is under way, one waits for all ticks since.
    expect(frozen.calls()).toBe(1)
    await frozen.wake()
    expect(statuses(dead)).toBe(1)
    expect((await passAll()).every(({ ok }) => ok)).toBe(true)
  })

  test('holds nobody who asks for all nodes longer than their time', async () => {
    const frozen = freeze(managed('dead'))
    const begin = performance.now()
    const results = await w.s.nodeSync.syncAll({ force: false, remove: true, timeoutMs: 300 })
    expect(results).toEqual([
      { code: 'de1', ok: true, added: 0, removed: 0, error: null },
      {
        code: 'dead',
        ok: false,
        added: 0,
        removed: 0,
        error: 'not done within 0.3 s, it goes on',
      },
    ])
    await w.s.nodeSync.readTraffic(20)
    expect(await w.s.nodeSync.readNode('dead', 20)).toBe(false)
    expect(await w.s.nodeSync.readNode('de1', 5000)).toBe(true)
    expect(performance.now() - begin).toBeLessThan(3000)
    await frozen.wake()
  })

  test('takes one time of the caller, not one for each such node, and the others have their client', async () => {
    const frozen = ['x', 'y', 'z'].map((code) => freeze(managed(code)))
    const clients = ['x', 'y', 'z', 'de1'].map((node) => ({
      uuid: addSubscription(w, 7, { node }),
      node,
      nodeGroup: null,
    }))
    const begin = performance.now()
    expect(await w.s.nodeSync.touch(clients, 200)).toBe(false)
    expect(performance.now() - begin).toBeLessThan(1500)
    expect(w.node.clients.size).toBe(1)
    expect(behind()).toEqual([])
    await Promise.all(frozen.map((one) => one.wake()))
    expect(behind()).toEqual(['x', 'y', 'z'])
  })
})

describe('a core that is behind', () => {
  test('is tried after 5, 10, 20, 40 and 80 s, then with all others, and anew after it was in step', async () => {
    const node = managed('nl')
    node.failure = 'unreachable'
    await passAll()
    expect(behind()).toEqual(['nl'])
    expect(await triesWithin(300, node)).toEqual([5, 15, 35, 75, 155])
    node.failure = null
    await passAll()
    await passAll()
    expect(behind()).toEqual([])
    node.failure = 'timeout'
    await passAll()
    expect(await triesWithin(20, node)).toEqual([5, 15])
    node.failure = null
    expect(await triesWithin(30, node)).toEqual([15])
    expect(behind()).toEqual([])
    expect(await triesWithin(100, node)).toEqual([])
  })

  test('by what another process could not tell it is made up for by the scheduler at once', async () => {
    const node = managed('nl')
    await passAll()
    await passAll()
    const uuid = addSubscription(w, 7, { node: 'nl' })
    node.failure = 'unreachable'
    expect(await otherProcess().touch([{ uuid, node: 'nl', nodeGroup: null }])).toBe(false)
    node.failure = null
    expect(await triesWithin(10, node)).toEqual([0])
    expect(node.clients.has(uuid)).toBe(true)
  })

  test('because it had just been started has its client within seconds', async () => {
    const node = managed('nl')
    await passAll()
    const uuid = addSubscription(w, 7, { node: 'nl' })
    node.up = false
    expect(await w.s.nodeSync.touch([{ uuid, node: 'nl', nodeGroup: null }])).toBe(false)
    node.up = true
    expect(await triesWithin(10, node)).toEqual([5])
    expect(behind()).toEqual([])
  })

  test('because it took clients while it was being started is looked at again', async () => {
    const node = managed('nl')
    await passAll()
    addSubscription(w, 7, { node: 'nl' })
    node.beforeApply = async () => {
      node.up = false
    }
    const error = 'the running core does not hold the wanted clients'
    expect((await passAll())[1]).toMatchObject({ code: 'nl', ok: false, error })
    Object.assign(node, { up: true, beforeApply: null })
    expect(await triesWithin(10, node)).toEqual([5])
    expect(w.rows("select last_error from nodes where code = 'nl'")).toEqual([{ last_error: null }])
  })

  test('for its new configuration is looked at soon, without an error', async () => {
    const node = managed('nl')
    expect((await passAll())[1]).toMatchObject({ ok: true, error: null })
    expect(await triesWithin(10, node)).toEqual([5])
    expect(behind()).toEqual([])
  })

  test('stays so when a change fails while a pass goes on that began before it', async () => {
    const node = managed('nl')
    await passAll()
    await passAll()
    const [early, late] = [7, 7].map((tgId) => addSubscription(w, tgId, { node: 'nl' }))
    w.change("update nodes set behind = 1 where code = 'nl'")
    w.change('update subscriptions set held_at = created_at where uuid = ?', late)
    node.beforeApply = async () => {
      node.beforeApply = null
      w.change('update subscriptions set held_at = null where uuid = ?', late)
      node.failure = 'unreachable'
      await w.s.nodeSync.touch([{ uuid: late as string, node: 'nl', nodeGroup: null }])
      node.failure = null
    }
    expect((await passAll())[1]).toMatchObject({ ok: true, added: 1 })
    expect([node.clients.has(early as string), node.clients.has(late as string)]).toEqual([
      true,
      false,
    ])
    expect(behind()).toEqual(['nl'])
    await triesWithin(10, node)
    expect(node.clients.has(late as string)).toBe(true)
  })

  test('removes nothing while the clock is doubted', async () => {
    const node = managed('nl')
    await passAll()
    await passAll()
    const uuid = crypto.randomUUID()
    node.clients.set(uuid, 'nl')
    for (const remove of [false, true]) {
      w.change("update nodes set behind = 1 where code = 'nl'")
      w.s.nodeSync.retryBehind({ remove })
      w.clock.advance(5 * SECOND)
      w.s.nodeSync.retryBehind({ remove })
      await w.s.background.idle()
      expect(node.clients.has(uuid)).toBe(!remove)
    }
  })
})

test('force that is asked for during a pass is not lost to one that waits already', async () => {
  const node = managed('nl')
  await passAll()
  for (let i = 0; i < 30; i++) node.clients.set(crypto.randomUUID(), 'nl')
  const { promise, resolve } = Promise.withResolvers<void>()
  const { status } = node.program
  node.program.status = async (...args) => {
    await promise
    return status(...args)
  }
  const under = passAll()
  const waiting = passAll()
  const forced = w.s.nodeSync.syncAll({ force: true, remove: true })
  const last = passAll()
  resolve()
  expect((await under)[1]).toMatchObject({ removed: 0, error: 'removals held back' })
  for (const pass of [waiting, forced, last]) {
    expect((await pass)[1]).toMatchObject({ removed: 30, error: null })
  }
})

test('a node that is deleted while its pass waits is passed over no more', async () => {
  const node = managed('nl')
  await passAll()
  const frozen = freeze(node)
  const under = passAll()
  const waiting = passAll()
  w.change("delete from nodes where code = 'nl'")
  await frozen.wake()
  await under
  expect((await waiting).map(({ code }) => code)).toEqual(['de1'])
})
