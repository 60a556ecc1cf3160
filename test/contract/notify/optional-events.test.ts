import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tickedEvents } from '#src/domain/notify/events.ts'
import { readSettings } from '#src/domain/settings.ts'
import { resetTrafficPeriods } from '#src/domain/subscriptions/resets.ts'
import { OPTIONAL_EVENTS } from '#src/settings/optional-events.ts'
import { restoreInto } from '#test/support/calls/restores.ts'
import { addSubscription, addUser, nowOf, putSettings } from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { PASSWORD, type World } from '#test/support/worlds/world.ts'

const WEBHOOK = '/admin/api/settings/webhook'
const HOOK = 'https://hook.test/in'
const refused = (events: unknown, error: string): Scenario => ({
  name: `400 for ${JSON.stringify(events)}`,
  request: { path: WEBHOOK, body: { url: HOOK, events } },
  status: 400,
  error,
  effects: (w) => expect(w.rows("select key from settings where key like 'WEBHOOK%'")).toEqual([]),
})

scenarios('settings/webhook: the optional events', [
  {
    name: '200 with those that are ticked, each once, in their order',
    request: {
      path: WEBHOOK,
      body: { url: '', events: ['backup.restored', 'admin.added', 'admin.added'] },
    },
    status: 200,
    body: { ok: true, url: '', events: ['admin.added', 'backup.restored'] },
    effects: async (w) => {
      const { json } = await w.admin(WEBHOOK)
      expect(json).toEqual({
        url: '',
        has_secret: false,
        events: ['admin.added', 'backup.restored'],
      })
    },
  },
  {
    name: '200 and the address stays, where only they are given',
    given: (w) => putSettings(w, { WEBHOOK_URL: HOOK, WEBHOOK_SECRET: 's' }),
    request: { path: WEBHOOK, body: { events: [...OPTIONAL_EVENTS] } },
    status: 200,
    body: { ok: true, url: HOOK, events: [...OPTIONAL_EVENTS] },
  },
  {
    name: '200 and they stay, where only the address is given',
    given: (w) => putSettings(w, { WEBHOOK_EVENTS: 'admin.added' }),
    request: { path: WEBHOOK, body: { url: '' } },
    status: 200,
    body: { ok: true, url: '' },
    effects: (w) => expect(tickedEvents(readSettings(w.s))).toEqual(['admin.added']),
  },
  {
    name: '200 without a word of them when none is ticked any more',
    given: (w) => putSettings(w, { WEBHOOK_EVENTS: 'admin.added' }),
    request: { path: WEBHOOK, body: { events: [] } },
    status: 200,
    body: { ok: true, url: '', events: [] },
    effects: async (w) =>
      expect((await w.admin(WEBHOOK)).json).toEqual({ url: '', has_secret: false }),
  },
  {
    name: '200 with those of the environment that this version knows',
    world: { environment: { WEBHOOK_EVENTS: 'admin.added, node.exploded backup.restored' } },
    request: { path: WEBHOOK },
    status: 200,
    body: { url: '', has_secret: false, events: ['admin.added', 'backup.restored'] },
  },
  {
    name: 'those that are sent no more are told to whoever is alerted',
    world: { environment: { ADMIN_TG_IDS: '501' } },
    given: (w) => putSettings(w, { WEBHOOK_EVENTS: 'admin.added backup.restored' }),
    request: { path: WEBHOOK, body: { events: ['admin.added', 'admin.removed'] } },
    status: 200,
    body: { ok: true, url: '', events: ['admin.added', 'admin.removed'] },
    effects: async (w) => {
      await w.admin(WEBHOOK, { body: { events: [...OPTIONAL_EVENTS] } })
      await w.admin(WEBHOOK, { body: { url: '' } })
      const told = w.rows('select payload from outbox').map(({ payload }) => JSON.parse(payload))
      expect(told).toEqual([
        { about: 'events-unticked', events: 'backup.restored', admin: 'admin', ip: '127.0.0.1' },
      ])
    },
  },
  refused('admin.added', 'events must be a list of optional events'),
  refused(null, 'events must be a list of optional events'),
  refused(['payment.paid'], 'events.0 must be an optional event'),
  refused(['admin.added', 'nope'], 'events.1 must be an optional event'),
  refused([5], 'events.0 must be an optional event'),
])

const eventsOf = (w: World) =>
  w
    .rows('select event, data, status from events order by seq')
    .map(({ event, data, status }) => [event, JSON.parse(data), status])

const FROM = { 'x-real-ip': '203.0.113.7' }

/** Has a customer use up all their traffic, and their next period begin; gives what both events say. */
async function useUp(w: FileWorld) {
  addUser(w, 7)
  const quota = { quota_bytes: 1, quota_period: 'day', resets_at: '2027-01-01T00:00:00' }
  const uuid = addSubscription(w, 7, quota)
  w.node.counters.set(uuid, [0, 1])
  await w.s.nodeSync.readNode('de1', 1000)
  w.change('update subscriptions set resets_at = ?', nowOf(w))
  await resetTrafficPeriods(w.s)
  await w.s.background.idle()
  return {
    ...{ tg_id: 7, username: null, subscription_uuid: uuid, node: 'de1', plan: '1m' },
    ...{ node_label: expect.any(String), plan_label: expect.any(String) },
    expires_at: expect.any(String),
  }
}

/** Does everything that an optional event tells of; gives what each would say. */
async function doAll(w: FileWorld) {
  const made = await w.admin('/admin/api/admins', {
    body: { username: 'eve', password: 'a long enough password' },
    headers: FROM,
  })
  await w.admin(`/admin/api/admins/${made.json.id}`, { method: 'DELETE', headers: FROM })
  const body = { username: 'admin', password: PASSWORD }
  for (const ip of ['198.51.100.1', '203.0.113.9']) {
    await w.call('/admin/api/login', { body, headers: { 'x-real-ip': ip } })
  }
  const limited = await useUp(w)
  addUser(w, 8)
  const uuid = addSubscription(w, 8)
  for (const verb of ['disable', 'enable']) {
    await w.admin(`/admin/api/subscriptions/${uuid}/${verb}`, { method: 'POST' })
  }
  const subscription = expect.objectContaining({ subscription_uuid: uuid, tg_id: 8 })
  const archive = (await w.admin('/admin/api/backup', { headers: FROM })).bytes
  await restoreInto(w, archive)
  const by = { admin: 'admin', ip: '203.0.113.7' }
  return {
    'admin.added': { ...by, username: 'eve' },
    'admin.removed': { ...by, username: 'eve' },
    'login.new_address': { admin: 'admin', ip: '203.0.113.9' },
    'backup.downloaded': by,
    'backup.restored': { admin: 'admin', ip: expect.any(String) },
    'subscription.limited': limited,
    'subscription.traffic_reset': limited,
    'subscription.disabled': subscription,
    'subscription.enabled': subscription,
  }
}

describe('an optional event', () => {
  let w: FileWorld
  beforeEach(async () => {
    w = await createFileWorld()
    w.change("update admins set last_login_at = '2026-01-01T00:00:00'")
  })
  afterEach(() => w.close())

  test('that is not ticked is not written', async () => {
    putSettings(w, { WEBHOOK_URL: HOOK, WEBHOOK_SECRET: 's', ADMIN_TG_IDS: '77' })
    await doAll(w)
    expect(eventsOf(w)).toEqual([])
  })

  test.each(OPTIONAL_EVENTS)('%s is written when it is ticked, and no other', async (event) => {
    putSettings(w, { WEBHOOK_EVENTS: event })
    const said = await doAll(w)
    const own = eventsOf(w).filter(([name]) => name === event)
    expect(eventsOf(w)).toEqual(own)
    expect(own.at(-1)).toEqual([event, said[event], 'skipped'])
  })

  test('goes where the others go, and holds no secret', async () => {
    putSettings(w, { WEBHOOK_URL: 'http://127.0.0.1:1/', WEBHOOK_SECRET: 's' })
    await w.admin(WEBHOOK, { body: { events: ['admin.added'] } })
    const password = 'a password that stays here'
    await w.admin('/admin/api/admins', { body: { username: 'eve', password } })
    w.s.nudge('events')
    await w.s.background.idle()
    expect(eventsOf(w)).toMatchObject([['admin.added', { username: 'eve' }, 'failed']])
    expect(w.dump('settings')).not.toContain(password)
  })
})
