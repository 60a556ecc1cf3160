/** Alerts of what befalls nodes and disks: once per change of state. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keptNodes } from '#db/nodes.ts'
import type { Node } from '#db/schema/index.ts'
import { createNodeAlerts } from '#src/domain/nodes/alerts.ts'
import { createNodeSync } from '#src/domain/nodes/sync/sync.ts'
import { alertState } from '#src/domain/notify/alerts.ts'
import { watchDisk } from '#src/domain/notify/disk-alert.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { BOT_TOKEN } from '#test/support/rows/messages.ts'
import {
  addNode,
  addSubscription,
  addUser,
  nowOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { alertsOf, toldTo } from '#test/support/rows/told-alerts.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const telegram = await startFakeTelegram({ [BOT_TOKEN]: 'shop_bot' })

afterAll(() => telegram.close())

let w: World
beforeEach(async () => {
  telegram.reset()
  w = await createWorld({
    outsideTimeoutMs: 1000,
    environment: { TELEGRAM_API_URL: telegram.url, BOT_TOKEN, ADMIN_TG_IDS: '501 502' },
  })
})

afterEach(() => w.close())

const alerts = () => alertsOf(w)
const told = () => toldTo(w, 501)

describe('a node', () => {
  const MINUTE = 60_000
  const syncs = () => {
    const { db, clock, log, config, cores, instanceId, background } = w.s
    return createNodeSync({ db, clock, log, config, cores, instanceId, background })
  }
  const pass = async (afterMs: number, sync = w.s.nodeSync) => {
    w.clock.advance(afterMs)
    await sync.syncAll({ force: false, remove: true })
  }

  test('that is down for three minutes is told once, and once that it is back', async () => {
    await pass(0)
    w.node.failure = 'unreachable'
    await pass(90_000)
    await pass(90_000)
    expect(told()).toEqual([])
    await pass(90_000)
    const down = { about: 'node-down', node: 'Local', reason: expect.any(String) }
    expect(told()).toEqual([down])
    for (let i = 0; i < 5; i++) await pass(90_000)
    expect(told()).toEqual([down])
    w.node.failure = null
    await pass(90_000)
    await pass(90_000)
    expect(told()).toEqual([down, { about: 'node-back', node: 'Local' }])
    expect(w.rows('select name from open_alerts')).toEqual([])
  })

  test('that comes back within three minutes is not told', async () => {
    for (let i = 0; i < 4; i++) {
      w.node.failure = 'unreachable'
      await pass(90_000)
      await pass(60_000)
      w.node.failure = null
      await pass(10_000)
    }
    expect(told()).toEqual([])
  })

  test('is told once also across restarts and processes', async () => {
    w.node.failure = 'unreachable'
    for (let i = 0; i < 4; i++) await pass(90_000)
    const other = syncs()
    for (let i = 0; i < 4; i++) await pass(90_000, other)
    expect(told()).toHaveLength(1)
    w.node.failure = null
    await pass(0, other)
    await pass(0)
    expect(told().map(({ about }) => about)).toEqual(['node-down', 'node-back'])
  })

  test('that a process saw in trouble twice, long apart, was not down all the time', async () => {
    w.node.failure = 'unreachable'
    await pass(0)
    await pass(60 * MINUTE)
    expect(told()).toEqual([])
  })

  test('that goes down while nobody is to be told is told to who comes later', async () => {
    putSettings(w, { ADMIN_TG_IDS: '' })
    w.node.failure = 'unreachable'
    for (let i = 0; i < 4; i++) await pass(90_000)
    expect(alerts()).toEqual([])
    putSettings(w, { ADMIN_TG_IDS: '501' })
    await pass(90_000)
    expect(told()).toHaveLength(1)
  })

  test('that is deleted while it is down leaves nothing to a new one of its name', async () => {
    addNode(w, 'nl1', { kind: 'managed', label: 'NL' })
    const nl1 = () => keptNodes(w.s.db).find(({ code }) => code === 'nl1') as Node
    const own = createNodeAlerts(w.s)
    const goDown = async () => {
      await w.settle()
      for (let i = 0; i < 4; i++) {
        await own.note([nl1()], 'no answer')
        w.clock.advance(90_000)
      }
      await own.noteBrake(nl1(), true)
    }
    const both = ['node-down', 'removals-held-back']
    await goDown()
    expect(told().map(({ about }) => about)).toEqual(both)
    await w.admin('/admin/api/nodes/nl1', { method: 'DELETE' })
    expect(w.rows('select name from open_alerts')).toEqual([])
    addNode(w, 'nl1', { kind: 'managed', label: 'NL' })
    await goDown()
    expect(told().map(({ about }) => about)).toEqual([...both, ...both])
  })

  test('that is deleted takes the states of no other node along', async () => {
    addNode(w, 'nl1', { kind: 'managed' })
    w.change("insert into open_alerts (name) values ('disk'), ('node:nl1'), ('node:nl10')")
    await w.admin('/admin/api/nodes/nl1', { method: 'DELETE' })
    expect(w.rows('select name from open_alerts order by name')).toEqual([
      { name: 'disk' },
      { name: 'node:nl10' },
    ])
  })

  test('whose removals are held back is told once', async () => {
    for (let i = 1; i <= 30; i++) {
      addUser(w, i)
      addSubscription(w, i)
    }
    await pass(0)
    const expiry = (at: string) => w.change('update subscriptions set expires_at = ?', at)
    const held = { about: 'removals-held-back', node: 'Local' }
    for (const times of [1, 2]) {
      expiry('2026-01-01T00:00:00')
      await pass(0)
      await pass(0)
      expect(told()).toEqual(Array(times).fill(held))
      expiry('2027-01-01T00:00:00')
      await pass(0)
    }
    expect(w.rows('select name from open_alerts')).toEqual([])
  })
})

test('a state that two processes find at the same time is told once', async () => {
  const find = (begins: boolean) =>
    w.s.db.tx((tx) =>
      alertState(tx, w.s, nowOf(w), {
        name: 'disk',
        begins,
        alert: { about: 'disk-low', freePercent: 1 },
      }),
    )
  for (const begins of [false, true, true, false, false]) await find(begins)
  expect(told()).toHaveLength(2)
})

test('a disk is told once when less than a tenth is free, and again only after it had more', async () => {
  let free = 0.5
  const s = { ...w.s, freeDiskShare: () => free }
  for (const share of [0.5, 0.1, 0.0999, 0.05, 0.12, 0.09, 0.15, 0.2, 0.01]) {
    free = share
    await watchDisk(s)
  }
  expect(told()).toEqual([
    { about: 'disk-low', freePercent: 9 },
    { about: 'disk-low', freePercent: 1 },
  ])
})
