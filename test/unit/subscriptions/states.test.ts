/** Whoever asks which subscriptions are active, limited, disabled, held, expired or revoked, and which are served, is told the same of any rows. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { run } from '#db/engine/database.ts'
import type { SqliteDatabase } from '#db/engine/sqlite/handle.ts'
import { listMembers, nodesOf, readNodesOf } from '#db/node-groups.ts'
import { dueReminders } from '#db/reminders.ts'
import { countActive, countAll } from '#db/stats.ts'
import { listSubscriptions } from '#db/subscription-listing.ts'
import {
  hasUnexpired,
  joinClientsOfNode,
  listActiveOfUser,
  listClientsOfNode,
  listOnOtherNodes,
  listServed,
  readUnexpiredOfUser,
  readUnrevokedOfUser,
} from '#db/subscriptions.ts'
import { findListedUser, listUsers, USER_STATES, type UserState } from '#db/user-listing.ts'
import { findListOwner } from '#db/users.ts'
import { RUNNING, subscriptionState } from '#src/domain/subscriptions/subscriptions.ts'
import { openSqlite } from '#test/support/worlds/sqlite-database.ts'

const NOW = '2026-03-01T12:00:00'
const LATER = '2026-09-01T00:00:00'
const NODES = ['de1', 'fi1', 'us1']
const PAGE = { limit: 500, cursor: null, order: 'asc' as const }
const ALL = { from: '', to: '~' }

/** Numbers below `most` that a seed decides (mulberry32). */
function random(seed: number) {
  let state = seed
  return (most: number) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) % most
  }
}

interface User {
  tgId: number
  banned: boolean
}

interface Row {
  uuid: string
  tgId: number
  node: string
  nodeGroup: string | null
  active: boolean
  disabledAt: string | null
  heldAt: string | null
  /** Of one that waits for its first use. */
  startBy: string | null
  expiresAt: string
  limitedAt: string | null
}

/** Long over, over by a second, at this very second, a second to go, today, much later. */
const ENDS = [
  '2025-01-01T00:00:00',
  '2026-03-01T11:59:59',
  NOW,
  '2026-03-01T12:00:01',
  '2026-03-01T23:59:59',
  '2026-03-02T00:00:00',
  '2026-08-01T00:00:00',
]

/** A group's members: some of the nodes, or none. */
type Groups = Map<string, string[]>

/** The one that rows name is not always there. */
const GROUPS = ['all', 'two', 'gone']

function groupsOf(next: (most: number) => number): Groups {
  const some = () => NODES.filter(() => next(2) === 0)
  return new Map([
    ['all', next(2) === 0 ? NODES : some()],
    ['two', some()],
  ])
}

/** `free`: the nodes whose traffic counts against no quota. */
interface Shop {
  users: User[]
  rows: Row[]
  groups: Groups
  free: Set<string>
}

function shopOf(seed: number): Shop {
  const next = random(seed)
  const users = Array.from({ length: 12 }, (_, i) => ({ tgId: i + 1, banned: next(5) === 0 }))
  const rows = Array.from({ length: next(60) }, (_, i) => {
    const active = next(4) > 0
    return {
      uuid: `u${String(i).padStart(3, '0')}`,
      tgId: 1 + next(users.length),
      node: NODES[next(NODES.length)] as string,
      nodeGroup: next(2) === 0 ? null : (GROUPS[next(GROUPS.length)] as string),
      active,
      disabledAt: active && next(5) === 0 ? '2026-02-10T00:00:00' : null,
      startBy: next(6) === 0 ? LATER : null,
      heldAt: active && next(4) === 0 ? '2026-02-01T00:00:00' : null,
      expiresAt: ENDS[next(ENDS.length)] as string,
      limitedAt: next(4) === 0 ? '2026-02-15T00:00:00' : null,
    }
  })
  return { users, rows, groups: groupsOf(next), free: new Set(NODES.filter(() => next(3) === 0)) }
}

let db: SqliteDatabase
beforeEach(async () => {
  db = (await openSqlite('empty', ':memory:', new Date(`${NOW}Z`), async () => {})).db
})
afterEach(() => db.close())

function fill({ users, rows, groups, free }: Shop): void {
  const user = db.raw.prepare(
    'insert into users (tg_id, token, created_at, banned_at) values (?, ?, ?, ?)',
  )
  for (const { tgId, banned } of users) user.run(tgId, `t${tgId}`, NOW, banned ? NOW : null)
  // de1 is seeded.
  const node = db.raw.prepare(
    `insert into nodes (code, label, address, sort_order, created_at, traffic_ratio) values (?, ?, 'n.test', 2, ?, ?)
     on conflict (code) do update set traffic_ratio = excluded.traffic_ratio`,
  )
  for (const code of NODES) node.run(code, code, NOW, free.has(code) ? 0 : 100)
  const member = db.raw.prepare('insert into node_group_nodes (group_code, node) values (?, ?)')
  for (const [group, codes] of groups) {
    db.raw
      .prepare('insert into node_groups (code, label, sort_order, created_at) values (?, ?, 1, ?)')
      .run(group, group, NOW)
    for (const code of codes) member.run(group, code)
  }
  const subscription = db.raw.prepare(
    `insert into subscriptions (uuid, tg_id, node, node_group, plan, created_at, expires_at, active, disabled_at, held_at, start_by,
       limited_at, start_seconds, source)
     values (?, ?, ?, ?, '1m', ?, ?, ?, ?, ?, ?, ?, 60, 'admin')`,
  )
  for (const { uuid, tgId, node, nodeGroup, active, ...row } of rows) {
    const { expiresAt, disabledAt, heldAt, startBy, limitedAt } = row
    const states = [expiresAt, active ? 1 : 0, disabledAt, heldAt, startBy, limitedAt]
    subscription.run(uuid, tgId, node, nodeGroup, NOW, ...states)
  }
}

const nodesOfRow = (groups: Groups, { node, nodeGroup }: Row) =>
  new Set([node, ...(groups.get(nodeGroup ?? '') ?? [])])

const idsOf = (rows: { uuid: string }[]) => rows.map(({ uuid }) => uuid).sort()
const stateOf = (row: Row) => subscriptionState(row, NOW)
const isRunning = (row: Row) => RUNNING.has(stateOf(row))
/** Whether it is served now, or may be again without more time. */
const isUnexpired = ({ active, heldAt, expiresAt }: Row) =>
  active && (heldAt !== null || expiresAt > NOW)

function userStateOf(own: Row[]): UserState[] {
  const states = new Set(own.map(stateOf))
  const found: UserState[] = []
  if (states.has('active') || states.has('limited')) found.push('active')
  if (states.has('held')) found.push('held')
  if (states.has('disabled')) found.push('disabled')
  if (states.has('expired') && found.length === 0) found.push('expired')
  if ([...states].every((state) => state === 'revoked')) found.push('none')
  return found
}

async function expectOneTruth({ users, rows, groups, free }: Shop): Promise<void> {
  const isBanned = new Set(users.filter(({ banned }) => banned).map(({ tgId }) => tgId))
  const inState = (state: string) => rows.filter((row) => stateOf(row) === state)
  const running = rows.filter(isRunning)
  const listed = running.filter(({ tgId }) => !isBanned.has(tgId))
  /** On which of these nodes a subscription is that runs. */
  const servedOn = (row: Row, codes: string[]) =>
    codes.filter(
      (code) => nodesOfRow(groups, row).has(code) && (row.limitedAt === null || free.has(code)),
    )

  for (const state of ['active', 'limited', 'disabled', 'held', 'expired', 'revoked'] as const) {
    const found = await db.read((q) => listSubscriptions(q, { state }, 'created_at', PAGE, NOW))
    expect(idsOf(found.rows.map(({ row }) => row))).toEqual(idsOf(inState(state)))
  }
  const span = { from: NOW, to: LATER }
  const input = { now: NOW, soon: LATER, today: span, month: span, currency: 'RUB' }
  const counted = await db.read((q) => countAll(q, input))
  expect(counted.subscriptions).toEqual({
    active: inState('active').length,
    limited: inState('limited').length,
    disabled: inState('disabled').length,
    held: inState('held').length,
    expired: inState('expired').length,
    revoked: inState('revoked').length,
  })
  expect(counted.expiring).toBe(running.length)
  const ends = [{ from: '2026-03-01T12:00:01', to: LATER }]
  const byNode = await db.read((q) => countActive(q, NOW, ends))
  expect(byNode.rows.reduce((sum, one) => sum + one.active, 0)).toBe(running.length)
  expect(byNode.endings).toEqual([running.length])

  for (const node of NODES) {
    const clients = idsOf(listed.filter((row) => servedOn(row, [node]).length > 0))
    expect(await db.scan((q) => listClientsOfNode(q, node, ALL, NOW))).toEqual(clients)
    const joined = await db.scan((q) => joinClientsOfNode(q, node, ALL, NOW))
    expect(new TextDecoder().decode(joined)).toBe(clients.join(''))
    const needed = rows.filter((row) => row.node === node && isUnexpired(row))
    expect(await db.tx((tx) => hasUnexpired(tx, node, NOW))).toBe(needed.length > 0)
  }
  for (const codes of [NODES, NODES.slice(0, 1), NODES.slice(1), []]) {
    const isHere = (row: Row) => codes.some((code) => nodesOfRow(groups, row).has(code))
    const nodeOf = await db.read((q) => listServed(q, idsOf(rows), codes, NOW))
    expect([...nodeOf.keys()].sort()).toEqual(
      idsOf(listed.filter((row) => servedOn(row, codes).length > 0)),
    )
    for (const [uuid, code] of nodeOf) {
      const row = rows.find((one) => one.uuid === uuid) as Row
      expect(servedOn(row, codes)).toContain(code)
    }
    const isElsewhere = (row: Row) =>
      row.limitedAt === null ? !isHere(row) : servedOn(row, codes).length === 0
    const elsewhere = rows.filter((row) => row.disabledAt !== null || isElsewhere(row))
    const found = await db.read((q) => listOnOtherNodes(q, idsOf(rows), codes))
    expect([...found].sort()).toEqual(idsOf(elsewhere))
  }
  for (const row of rows) {
    const [one, other] = [nodesOfRow(groups, row), new Set(nodesOf(listMembers(db), row))]
    expect(other).toEqual(one)
    const read = await db.read((q) => readNodesOf(q, row))
    expect(new Set(read.map(({ code }) => code))).toEqual(one)
  }

  const reminder = { number: 1, now: NOW, after: NOW, until: LATER }
  const due = await db.read((q) => run(dueReminders(q, reminder, 500)))
  const begun = listed.filter(({ startBy }) => startBy === null)
  expect(idsOf(due.map(({ row }) => row))).toEqual(idsOf(begun))

  for (const { tgId, banned } of users) {
    const own = rows.filter((row) => row.tgId === tgId)
    const ownActive = own.filter(isRunning)
    const kept = own.filter(isUnexpired)
    const inState = (state: string) => own.filter((row) => stateOf(row) === state).length
    expect(idsOf(await db.read((q) => listActiveOfUser(q, tgId, NOW)))).toEqual(idsOf(ownActive))
    const owner = await findListOwner(db, `t${tgId}`, '', NOW)
    expect(idsOf(owner?.subscriptions ?? [])).toEqual(banned ? [] : idsOf(ownActive))
    expect(idsOf(await db.tx((tx) => readUnexpiredOfUser(tx, tgId, NOW)))).toEqual(idsOf(kept))
    const unrevoked = own.filter((row) => stateOf(row) !== 'revoked')
    expect(idsOf(await db.tx((tx) => readUnrevokedOfUser(tx, tgId)))).toEqual(idsOf(unrevoked))
    expect(await db.read((q) => findListedUser(q, tgId, NOW))).toMatchObject({
      active: ownActive.length,
      held: inState('held'),
      disabled: inState('disabled'),
      nextExpiry: ownActive.map(({ expiresAt }) => expiresAt).sort()[0] ?? null,
    })
  }
  for (const state of USER_STATES) {
    const { rows: found } = await db.read((q) => listUsers(q, { state }, 'tg_id', PAGE, NOW))
    const own = (tgId: number) => userStateOf(rows.filter((row) => row.tgId === tgId))
    expect(found.map(({ tgId }) => tgId)).toEqual(
      users.map(({ tgId }) => tgId).filter((tgId) => own(tgId).includes(state)),
    )
  }
}

test.each(Array.from({ length: 60 }, (_, seed) => seed))('shop %i', async (seed) => {
  const shop = shopOf(seed)
  fill(shop)
  await expectOneTruth(shop)
})
