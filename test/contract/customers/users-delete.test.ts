/** Deleted users: all that is theirs goes, and nothing that comes meanwhile stays. */
import { describe, expect, test } from 'vitest'
import {
  addDevice,
  addPayment,
  addSubscription,
  addUser,
  auditOf,
  DAY,
  eventsOf,
  inSeconds,
} from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, grantUser, type World } from '#test/support/worlds/world.ts'

const USERS = '/admin/api/users'
const CLIENT = { 'user-agent': 'Happ/3.5.0' }
const remove = (tgId: number | string) => ({ path: `${USERS}/${tgId}`, method: 'DELETE' })
const userOf = (w: World, tgId: number) => w.rows('select * from users where tg_id = ?', tgId)[0]
const sync = (w: World) => w.s.nodeSync.syncAll({ force: false, remove: true })
const clients = (w: World) => [...w.node.clients.keys()].sort()

/** A user with something in every table, and another like them. */
function settle(w: World) {
  for (const tgId of [7, 8]) {
    addUser(w, tgId, { username: `u${tgId}` })
    addDevice(w, tgId, 'device-0001')
    for (const status of ['ready', 'sending', 'done', 'failed', 'skipped']) {
      w.change(
        "insert into outbox (tg_id, kind, payload, status, next_try_at, created_at) values (?, 'x', '{}', ?, ?, ?)",
        tgId,
        status,
        inSeconds(w, 0),
        inSeconds(w, 0),
      )
    }
    const uuid = addSubscription(w, tgId)
    addSubscription(w, tgId, { active: 0 })
    const paid = { status: 'paid', paid_at: inSeconds(w, -9), subscription_uuid: uuid }
    addPayment(w, { id: `paid-${tgId}`, tg_id: tgId, renews_uuid: uuid, ...paid })
    addPayment(w, { id: `failed-${tgId}`, tg_id: tgId, status: 'failed' })
    const old = inSeconds(w, -2 * DAY)
    addPayment(w, { id: `old-${tgId}`, tg_id: tgId, created_at: old, renews_uuid: uuid })
    w.change(
      "insert into counters (core, uuid, epoch, up, down) values ('local', ?, 'e', 1, 1)",
      uuid,
    )
    w.node.clients.set(uuid, 'de1')
  }
}

const TABLES = ['users', 'subscriptions', 'devices', 'outbox', 'counters', 'payments']

const rowsOf = (w: World, tgId: number) =>
  TABLES.map((table) => {
    const own =
      table === 'counters'
        ? 'uuid in (select uuid from subscriptions where tg_id = ?)'
        : 'tg_id = ?'
    return w.rows(`select * from ${table} where ${own} order by 1, 2`, tgId)
  })

scenarios('DELETE /admin/api/users/{tg_id}', [
  {
    name: '200; the user is gone with all they had, paid and older pending payments stay and are marked',
    given: (w) => {
      settle(w)
      return rowsOf(w, 8)
    },
    request: remove(7),
    status: 200,
    body: { ok: true },
    effects: (w, other) => {
      const [users, subscriptions, devices, outbox, , payments] = rowsOf(w, 7)
      expect([users, subscriptions, devices]).toEqual([[], [], []])
      expect(outbox?.map(({ status }) => status)).toEqual(['done'])
      expect(payments?.map((row) => [row.id, row.status, row.deleted_user])).toEqual([
        ['paid-7', 'paid', 1],
        ['failed-7', 'failed', 1],
        ['old-7', 'pending', 1],
      ])
      expect(payments?.map((row) => row.subscription_uuid ?? row.renews_uuid)).toEqual([
        null,
        null,
        null,
      ])
      expect(w.rows('select count(*) as n from counters')[0].n).toBe(1)
      expect(rowsOf(w, 8)).toEqual(other)
      expect(w.node.clients.size).toBe(1)
      expect(w.rows('select action, object, detail from audit_log')).toEqual([
        { action: 'user.delete', object: '7', detail: '' },
      ])
      expect(eventsOf(w)).toEqual([])
    },
  },
  {
    name: '200 and their link is unknown at once',
    given: (w) => grantUser(w, 7),
    request: remove(7),
    status: 200,
    effects: async (w, { token }) => {
      expect((await w.call(`/sub/${token}`, { headers: CLIENT })).status).toBe(404)
      expect(clients(w)).toEqual([])
    },
  },
  {
    name: '200 although the node does not answer; the next sync removes their clients',
    given: async (w) => {
      await grantUser(w, 7)
      w.node.failure = 'timeout'
    },
    request: remove(7),
    status: 200,
    effects: async (w) => {
      w.node.failure = null
      await sync(w)
      expect(clients(w)).toEqual([])
    },
  },
  {
    name: '400 while a payment is pending that is a second younger than 48 hours',
    given: (w) => {
      settle(w)
      addPayment(w, { tg_id: 7, created_at: inSeconds(w, 1 - 2 * DAY) })
    },
    request: remove(7),
    status: 400,
    error: 'user has pending payments',
    effects: (w) => expect(w.node.clients.size).toBe(2),
  },
  {
    name: '200 when the pending payment is that of another user',
    given: (w) => {
      addUser(w, 7)
      addPayment(w, { tg_id: 8 })
    },
    request: remove(7),
    status: 200,
    effects: (w) =>
      expect(w.rows('select deleted_user from payments')).toEqual([{ deleted_user: 0 }]),
  },
])

describe('deleting and granting at once', () => {
  test.each([0, 1])('leaves node and database equal, order %i', async (order) => {
    const w = await createWorld()
    const { token } = await grantUser(w, 7)
    const acts = [
      () => w.admin(`${USERS}/7`, { method: 'DELETE' }),
      () => w.admin(`${USERS}/7/grant`, { body: { node: 'de1', plan: '1m' } }),
    ]
    if (order === 1) acts.reverse()
    const answers = await Promise.all(acts.map((act) => act()))
    await w.s.background.idle()
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const left = w.rows('select uuid from subscriptions').map(({ uuid }) => uuid)
    // The grant after the deletion makes the user anew; the one before it goes with the deleted one.
    expect(left.length).toBe(userOf(w, 7) ? 1 : 0)
    expect(clients(w)).toEqual(left)
    expect(w.rows('select count(*) as n from users where token = ?', token)[0].n).toBe(0)
    w.close()
  })

  test('leaves no client of one who is deleted while their grant is on its way to the node', async () => {
    const w = await createWorld()
    let deleted: Promise<unknown> | null = null
    w.node.beforeApply = async () => {
      deleted ??= w.admin(`${USERS}/7`, { method: 'DELETE' })
      await Promise.race([deleted, new Promise((resolve) => setTimeout(resolve, 20))])
    }
    await w.admin(`${USERS}/7/grant`, { body: { node: 'de1', plan: '1m' } })
    await w.s.background.idle()
    await deleted
    await w.s.background.idle()
    expect([w.rows('select * from users'), clients(w)]).toEqual([[], []])
    w.close()
  })

  test('twice: one is done, the other finds nobody', async () => {
    const w = await createWorld()
    addUser(w, 7)
    const answers = await Promise.all([1, 2].map(() => w.admin(`${USERS}/7`, { method: 'DELETE' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
    expect(auditOf(w)).toEqual(['user.delete'])
    w.close()
  })
})
