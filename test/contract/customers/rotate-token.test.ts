import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  addNode,
  addPayment,
  addSubscription,
  addUser,
  DAY,
  eventsOf,
  inSeconds,
} from '#test/support/rows/records.ts'
import { createWorld, grantUser, type World } from '#test/support/worlds/world.ts'

const USERS = '/admin/api/users'
const CLIENT = { 'user-agent': 'Happ/3.5.0' }
const sync = (w: World) => w.s.nodeSync.syncAll({ force: false, remove: true })
const clients = (w: World) => [...w.node.clients.keys()].sort()
const userOf = (w: World, tgId: number) => w.rows('select * from users where tg_id = ?', tgId)[0]

/** The lines of a user's list. */
async function listOf(w: World, token: string): Promise<string[]> {
  const { text } = await w.call(`/sub/${token}?format=links`, { headers: CLIENT })
  return text.split('\n').filter(Boolean)
}

describe('POST /admin/api/users/{tg_id}/rotate-token', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => w.close())

  test('gives another link and other clients; the old ones stop before the answer', async () => {
    const { token, subscription } = await grantUser(w, 7)
    const other = await grantUser(w, 8)
    const { status, json } = await w.admin(`${USERS}/7/rotate-token`, { method: 'POST' })
    expect(status).toBe(200)
    expect(json).toEqual({
      ok: true,
      token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      sub_link: `https://sub.test/sub/${json.token}`,
    })
    expect(json.token).not.toBe(token)
    const [row] = w.rows('select uuid from subscriptions where tg_id = 7')
    expect(row.uuid).not.toBe(subscription.uuid)
    expect(clients(w)).toEqual([row.uuid, other.subscription.uuid].sort())
    expect((await w.call(`/sub/${token}`, { headers: CLIENT })).status).toBe(404)
    const [link] = await listOf(w, json.token)
    expect(link).toContain(row.uuid)
    expect(
      w.rows("select object, detail from audit_log where action = 'user.rotate-token'"),
    ).toEqual([{ object: '7', detail: '' }])
    expect(eventsOf(w)).toHaveLength(2)
    expect(
      w
        .rows('select * from audit_log')
        .map((entry) => JSON.stringify(entry))
        .join(),
    ).not.toContain(json.token)
  })

  test('renames all but what is revoked, held and expired ones too; payments follow', async () => {
    addUser(w, 7)
    const running = addSubscription(w, 7, { up_bytes: 5, down_bytes: 6 })
    const held = addSubscription(w, 7, { held_at: inSeconds(w, -9), expires_at: inSeconds(w, -5) })
    const expired = addSubscription(w, 7, { expires_at: inSeconds(w, 0) })
    const revoked = addSubscription(w, 7, { active: 0 })
    addPayment(w, { id: 'p1', subscription_uuid: running, status: 'paid' })
    addPayment(w, { id: 'p2', renews_uuid: held })
    const rest = () =>
      w.rows('select * from subscriptions order by seq').map(({ uuid: _, ...row }) => row)
    const before = rest()
    await w.admin(`${USERS}/7/rotate-token`, { method: 'POST' })
    expect(rest()).toEqual(before)
    const uuids = w.rows('select uuid from subscriptions order by seq').map(({ uuid }) => uuid)
    expect(uuids[3]).toBe(revoked)
    for (const old of [running, held, expired]) expect(uuids).not.toContain(old)
    expect(
      w.rows('select subscription_uuid as s, renews_uuid as r from payments order by id'),
    ).toEqual([
      { s: uuids[0], r: null },
      { s: null, r: uuids[1] },
    ])
    expect(clients(w)).toEqual([uuids[0]])
  })

  test('lets no old client back when what has ended goes on', async () => {
    addUser(w, 7)
    const ended = [1, 2, 3].map(() => addSubscription(w, 7, { expires_at: inSeconds(w, -DAY) }))
    const calls = w.node.calls.length
    await w.admin(`${USERS}/7/rotate-token`, { method: 'POST' })
    expect(w.node.calls.slice(calls)).toEqual([])
    const [first, second, third] = w
      .rows('select uuid from subscriptions order by seq')
      .map(({ uuid }) => uuid)
    await w.admin(`/admin/api/subscriptions/${first}/extend`, { method: 'POST', body: { days: 1 } })
    const until = { expires_at: inSeconds(w, DAY) }
    await w.admin(`/admin/api/subscriptions/${second}`, { method: 'PATCH', body: until })
    addPayment(w, { id: 'p1', tg_id: 7, renews_uuid: third })
    await w.admin('/admin/api/payments/p1/grant', { method: 'POST' })
    await w.s.background.idle()
    expect(clients(w)).toEqual([first, second, third].sort())
    for (const uuid of ended) expect(clients(w)).not.toContain(uuid)
  })

  test('ends the code that connects a Telegram account', async () => {
    addUser(w, 7)
    addUser(w, 8)
    for (const tgId of [7, 8]) {
      w.change('insert into link_codes values (?, ?, ?)', tgId, `code of ${tgId}`, inSeconds(w, 60))
    }
    await w.admin(`${USERS}/7/rotate-token`, { method: 'POST' })
    expect(w.rows('select tg_id from link_codes')).toEqual([{ tg_id: 8 }])
  })

  test('keeps the traffic totals and counts the new client from zero', async () => {
    const { subscription } = await grantUser(w, 7)
    w.node.counters.set(subscription.uuid, [1000, 2000])
    await sync(w)
    await w.admin(`${USERS}/7/rotate-token`, { method: 'POST' })
    const [{ uuid }] = w.rows('select uuid from subscriptions')
    w.node.counters.clear()
    w.node.counters.set(uuid, [5, 7])
    w.node.counters.set(subscription.uuid, [1001, 2001])
    await sync(w)
    const totals = w.rows('select up_bytes as up, down_bytes as down from subscriptions')
    expect(totals).toEqual([{ up: 1005, down: 2007 }])
  })

  test('twice at once leaves one link and the clients of the last', async () => {
    await grantUser(w, 7)
    const answers = await Promise.all(
      [1, 2, 3].map(() => w.admin(`${USERS}/7/rotate-token`, { method: 'POST' })),
    )
    await w.s.background.idle()
    const tokens = answers.map(({ json }) => json.token)
    expect(new Set(tokens).size).toBe(3)
    const { token } = userOf(w, 7)
    expect(tokens).toContain(token)
    for (const other of tokens.filter((one) => one !== token)) {
      expect((await w.call(`/sub/${other}`, { headers: CLIENT })).status).toBe(404)
    }
    expect(clients(w)).toEqual(w.rows('select uuid from subscriptions').map(({ uuid }) => uuid))
  })

  test('while a node does not answer is done all the same; the next sync puts the node right', async () => {
    await grantUser(w, 7)
    addNode(w, 'ext')
    addSubscription(w, 7, { node: 'ext' })
    w.node.failure = 'unreachable'
    expect((await w.admin(`${USERS}/7/rotate-token`, { method: 'POST' })).status).toBe(200)
    w.node.failure = null
    await sync(w)
    const local = w.rows("select uuid from subscriptions where node = 'de1'")
    expect(clients(w)).toEqual(local.map(({ uuid }) => uuid))
  })
})
