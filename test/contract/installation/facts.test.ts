/**
 * What lists and statistics are counted by is what the rows say, whatever was done to them: random sequences of everything that
 * changes them, against a count of the rows themselves.
 */
import { afterEach, describe, expect, test } from 'vitest'
import * as facts from '#db/engine/facts.ts'
import { rebuildFacts } from '#db/engine/sqlite/facts.ts'
import { migrate } from '#db/engine/sqlite/migrate.ts'
import { restoreInto } from '#test/support/calls/restores.ts'
import { actionsOf, createChance } from '#test/support/rows/chance-actions.ts'
import {
  addNode,
  addSubscription,
  addUser,
  DAY,
  inSeconds,
  nowOf,
} from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const falseFacts = (w: World) =>
  facts
    .falseFacts('sqlite')
    .flatMap(([table, sql]) => w.rows(sql).map((row) => `${table}: ${Object.values(row).join()}`))

interface Row {
  tg_id: number
  active: number
  held_at: string | null
  disabled_at: string | null
  expires_at: string
}

function stateOf(row: Row, now: string): string {
  if (row.active === 0) return 'revoked'
  if (row.disabled_at !== null) return 'disabled'
  if (row.held_at !== null) return 'held'
  return row.expires_at > now ? 'active' : 'expired'
}

/** The states that a user is listed in, from their rows. */
function statesOf(rows: Row[], now: string): string[] {
  const kept = rows.filter((row) => row.active === 1)
  if (kept.length === 0) return ['none']
  const states = new Set(kept.map((row) => stateOf(row, now)))
  if (states.size > 1) states.delete('expired')
  return [...states]
}

async function expectTruth(w: World): Promise<void> {
  expect(falseFacts(w)).toEqual([])
  const now = nowOf(w)
  const rows = Map.groupBy(w.rows('select * from subscriptions') as Row[], (row) => row.tg_id)
  const users = w.rows('select tg_id from users order by tg_id').map((row) => row.tg_id as number)
  for (const state of ['active', 'held', 'disabled', 'expired', 'none']) {
    const listed = await w.admin(`/admin/api/users?status=${state}&sort=tg_id&order=asc`)
    const expected = users.filter((tgId) => statesOf(rows.get(tgId) ?? [], now).includes(state))
    expect([state, listed.json.map((user: Row) => user.tg_id)]).toEqual([state, expected])
    expect(listed.headers.get('x-total-count')).toBe(String(expected.length))
  }
  const all = [...rows.values()].flat()
  const count = (is: (row: Row) => boolean) => all.filter(is).length
  const stats = (await w.admin('/admin/api/stats')).json
  expect(stats.users).toBe(users.length)
  const inState = (state: string) => count((row) => stateOf(row, now) === state)
  expect({ disabled: 0, ...stats.subscriptions }).toEqual({
    active: inState('active'),
    held: inState('held'),
    disabled: inState('disabled'),
    expired: inState('expired'),
    revoked: inState('revoked'),
  })
  const soon = inSeconds(w, 3 * DAY)
  expect(stats.expiring_3d).toBe(
    count((row) => stateOf(row, now) === 'active' && row.expires_at <= soon),
  )
  const [paid] = w.rows(
    `select count(*) as n, coalesce(sum(case when currency = 'RUB' and refunded_at is null then amount end), 0) as sum
     from payments where status = 'paid'`,
  )
  const days = (await w.admin('/admin/api/stats/series?days=400')).json
  const sum = (name: string) =>
    days.reduce((all: number, day: Record<string, number>) => all + (day[name] ?? 0), 0)
  expect([sum('users'), sum('paid'), sum('revenue')]).toEqual([users.length, paid.n, paid.sum])
  const active = (await w.admin('/admin/api/stats/active')).json
  const ofPlans = active.by_plan.map((plan: { active: number }) => plan.active)
  expect(ofPlans.reduce((a: number, b: number) => a + b, 0)).toBe(stats.subscriptions.active)
}

const OTHER = '00000000-0000-4000-8000-ffffffffffff'

function addBuyer(w: World, tgId: number): void {
  addUser(w, tgId)
  addSubscription(w, tgId)
}

let w: World | undefined
afterEach(() => {
  w?.close()
  w = undefined
})

describe('facts are what the rows say', () => {
  test.each([1, 2, 3, 4, 5, 6])('after each of 60 random changes, seed %i', async (seed) => {
    w = await createWorld()
    addNode(w, 'nl1')
    const chance = createChance(seed)
    const actions = Object.entries(actionsOf(w, chance))
    for (let step = 0; step < 60; step++) {
      const [name, act] = chance.of(actions) as (typeof actions)[number]
      await act()
      await w.s.background.idle()
      expect([name, falseFacts(w)]).toEqual([name, []])
      if (step % 10 === 9) await expectTruth(w)
    }
  })

  test('after a restore, which takes none of them from the archive', async () => {
    const file: FileWorld = await createFileWorld()
    w = file
    addNode(w, 'nl1')
    const chance = createChance(7)
    const actions = Object.values(actionsOf(w, chance))
    for (let step = 0; step < 30; step++) await chance.of(actions)?.()
    await w.s.background.idle()
    w.change("update user_summaries set held = 99, last_end = '2099-01-01T00:00:00'")
    w.change('update tallies set n = 99')
    w.change('update ending_counts set n = 99')
    const archive = (await w.admin('/admin/api/backup')).bytes
    w.change('delete from subscriptions')
    await restoreInto(file, archive)
    expect(falseFacts(w)).toEqual([])
    expect(w.rows('select count(*) as n from subscriptions')[0].n).toBeGreaterThan(0)
    // And they are kept from then on.
    addUser(w, 99)
    expect(falseFacts(w)).toEqual([])
  })

  test('after an operator wrote by hand, foreign keys off', async () => {
    w = await createWorld()
    addUser(w, 1)
    w.change(
      "insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at) values ('u', 1, 'de1', '1m', '2026-04-01T00:00:00', 'admin', '2026-03-01T00:00:00')",
    )
    w.change('pragma foreign_keys = off')
    for (const sql of [
      'update users set tg_id = 2',
      "update subscriptions set tg_id = 2, plan = '3m'",
      "update users set created_at = '2026-01-01T10:59:59'",
      'delete from users',
      "insert into users (tg_id, token, created_at) values (2, 't', '2026-01-01T00:00:00')",
      'delete from subscriptions',
    ]) {
      w.change(sql)
      expect([sql, falseFacts(w)]).toEqual([sql, []])
    }
  })

  test('where traffic is beyond what is shown, and when it falls below again', async () => {
    w = await createWorld()
    const most = Number.MAX_SAFE_INTEGER
    for (const tgId of [1, 2, 3]) addBuyer(w, tgId)
    w.change('update subscriptions set up_bytes = ?, down_bytes = ? - tg_id', most, most)
    const { raw } = w.s.db
    raw.transaction(() => rebuildFacts(raw))()
    const traffic = async () => (await w?.admin('/admin/api/stats'))?.json.traffic
    expect(falseFacts(w)).toEqual([])
    expect(await traffic()).toMatchObject({ up: most, down: most })
    w.change('update subscriptions set up_bytes = 7, down_bytes = 0 where tg_id <> 3')
    expect(await traffic()).toMatchObject({ up: most, down: most - 3 })
    w.change('delete from subscriptions where tg_id = 3')
    expect(await traffic()).toMatchObject({ up: 14, down: 0 })
    expect(falseFacts(w)).toEqual([])
  })

  test('where traffic is beyond 64 bits', async () => {
    w = await createWorld()
    for (let tgId = 1; tgId <= 1030; tgId++) addBuyer(w, tgId)
    w.change('update subscriptions set up_bytes = ?', Number.MAX_SAFE_INTEGER)
    const { raw } = w.s.db
    raw.transaction(() => rebuildFacts(raw))()
    expect(falseFacts(w)).toEqual([])
    const shown = async () => (await w?.admin('/admin/api/stats'))?.json.traffic.up
    expect(await shown()).toBe(Number.MAX_SAFE_INTEGER)
    // Not a byte is lost on the way back.
    w.change('update subscriptions set up_bytes = 3 where tg_id > 1')
    expect(await shown()).toBe(Number.MAX_SAFE_INTEGER)
    w.change('update subscriptions set up_bytes = 3 where tg_id = 1')
    expect(await shown()).toBe(3090)
    expect(falseFacts(w)).toEqual([])
  })

  test('after a start that found a trigger missing, another one, or one too many', async () => {
    const file = await createFileWorld()
    w = file
    addBuyer(w, 1)
    const start = () => migrate(file.s.db.raw)
    const triggers = () =>
      file.rows("select name, sql from sqlite_schema where type = 'trigger' order by name")
    const sound = triggers()
    for (const change of [
      ['drop trigger fact_users_insert'],
      [
        'drop trigger fact_users_insert',
        'create trigger fact_users_insert after insert on users begin select 1; end',
      ],
      ['create trigger fact_former after insert on users begin delete from tallies; end'],
    ]) {
      for (const sql of change) w.change(sql)
      addUser(w, 10 + w.rows('select * from users').length)
      expect([change, falseFacts(w)]).not.toEqual([change, []])
      start()
      expect([change, falseFacts(w)]).toEqual([change, []])
      expect(triggers()).toEqual(sound)
    }
    // Nothing is done where they are as they must be: it would take its time at each start.
    w.change("update tallies set n = 7 where name = 'users'")
    start()
    expect(falseFacts(w)).toHaveLength(1)
  })

  test('and no summary is written that says what it said before', async () => {
    w = await createWorld()
    addUser(w, 1)
    addSubscription(w, 1, { expires_at: '2026-05-01T00:00:00' })
    addSubscription(w, 1, { uuid: OTHER, expires_at: '2026-04-01T00:00:00' })
    w.change(
      "create temp trigger written after update on user_summaries begin select raise(abort, 'written'); end",
    )
    w.change("update subscriptions set expires_at = '2026-04-02T00:00:00' where uuid = ?", OTHER)
    expect(() =>
      w?.change(
        "update subscriptions set expires_at = '2026-06-02T00:00:00' where uuid = ?",
        OTHER,
      ),
    ).toThrow('written')
    expect(falseFacts(w)).toEqual([])
  })

  test('is seen where they are not, and put right by making them anew', async () => {
    w = await createWorld()
    addUser(w, 1)
    const { raw } = w.s.db
    w.change('update user_summaries set held = 1')
    w.change("update tallies set n = 7 where name = 'users'")
    w.change("insert into ending_counts values ('2026-03-01', 'de1', '1m', 1)")
    expect(falseFacts(w)).toHaveLength(3)
    raw.transaction(() => rebuildFacts(raw))()
    expect(falseFacts(w)).toEqual([])
  })
})
