import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addSubscription, addUser, auditOf, inSeconds } from '#test/support/rows/records.ts'
import { createWorld, grantUser, type World } from '#test/support/worlds/world.ts'

const USERS = '/admin/api/users'
const CLIENT = { 'user-agent': 'Happ/3.5.0' }
const sync = (w: World) => w.s.nodeSync.syncAll({ force: false, remove: true })
const clients = (w: World) => [...w.node.clients.keys()].sort()
const userOf = (w: World, tgId: number) => w.rows('select * from users where tg_id = ?', tgId)[0]
const ban = (w: World, tgId: number, banned = true) =>
  w.admin(`${USERS}/${tgId}`, { method: 'PATCH', body: { banned } })

/** The lines of a user's list. */
async function listOf(w: World, token: string): Promise<string[]> {
  const { text } = await w.call(`/sub/${token}?format=links`, { headers: CLIENT })
  return text.split('\n').filter(Boolean)
}

describe('a banned user', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => w.close())

  test('has an empty list, cabinet and no client on any node, before the answer', async () => {
    const { token, subscription } = await grantUser(w, 7)
    const other = await grantUser(w, 8)
    expect(await listOf(w, token)).toHaveLength(1)
    w.node.calls.length = 0
    await ban(w, 7)
    expect(clients(w)).toEqual([other.subscription.uuid])
    expect(w.node.calls.map(({ request }) => request?.remove)).toEqual([[subscription.uuid]])
    expect(await listOf(w, token)).toEqual([])
    expect((await w.call(`/api/cabinet/${token}`)).json.subscriptions).toEqual([])
  })

  test('stays without clients through syncs, holds, resumes, extensions and grants', async () => {
    const { subscription } = await grantUser(w, 7)
    await ban(w, 7)
    const path = `/admin/api/subscriptions/${subscription.uuid}`
    await sync(w)
    for (const verb of ['hold', 'resume']) await w.admin(`${path}/${verb}`, { method: 'POST' })
    expect((await w.admin(`${path}/extend`, { body: { days: 1 } })).status).toBe(200)
    await w.admin(path, { method: 'PATCH', body: { expires_at: '2027-01-01T00:00:00' } })
    await w.admin(`${USERS}/7/rotate-token`, { method: 'POST' })
    await grantUser(w, 7)
    await sync(w)
    expect(clients(w)).toEqual([])
    expect(w.node.calls.flatMap(({ request }) => request?.add ?? [])).toHaveLength(1)
  })

  test('has all of it back when the ban ends: both running ones, not the held one', async () => {
    const { token, subscription } = await grantUser(w, 7)
    const running = addSubscription(w, 7)
    const held = addSubscription(w, 7, { held_at: inSeconds(w, -9) })
    addSubscription(w, 7, { expires_at: inSeconds(w, 0) })
    const before = w.rows('select * from subscriptions order by uuid')
    await ban(w, 7)
    w.clock.advance(1000)
    const answer = await ban(w, 7, false)
    expect(answer.json).toMatchObject({ banned_at: null, active: 2, held: 1 })
    expect(clients(w)).toEqual([running, subscription.uuid].sort())
    expect(w.node.clients.has(held)).toBe(false)
    expect(await listOf(w, token)).toHaveLength(2)
    expect(w.rows('select * from subscriptions order by uuid')).toEqual(before)
    expect(auditOf(w).slice(1)).toEqual(['user.ban', 'user.unban'])
  })

  test('is banned although the node does not answer; the next sync removes their clients', async () => {
    await grantUser(w, 7)
    w.node.failure = 'unreachable'
    expect((await ban(w, 7)).status).toBe(200)
    expect(clients(w)).toHaveLength(1)
    w.node.failure = null
    await sync(w)
    expect(clients(w)).toEqual([])
  })

  test('has no client when banned while a grant of theirs is on its way to the node', async () => {
    addUser(w, 7)
    let banned: Promise<unknown> | null = null
    w.node.beforeApply = async () => {
      banned ??= ban(w, 7)
      await Promise.race([banned, new Promise((resolve) => setTimeout(resolve, 20))])
    }
    await grantUser(w, 7)
    await banned
    await w.s.background.idle()
    expect(userOf(w, 7).banned_at).not.toBeNull()
    expect(clients(w)).toEqual([])
  })

  test.each([0, 1])('has none whichever comes first, order %i', async (order) => {
    addUser(w, 7)
    const grant = () => w.admin(`${USERS}/7/grant`, { body: { node: 'de1', plan: '1m' } })
    const both = [grant, () => ban(w, 7)]
    if (order === 1) both.reverse()
    const statuses = (await Promise.all(both.map((act) => act()))).map(({ status }) => status)
    await w.s.background.idle()
    expect(statuses).toEqual([200, 200])
    expect(w.rows('select count(*) as n from subscriptions')[0].n).toBe(1)
    expect(clients(w)).toEqual([])
  })
})
