/** What finds effects in the bodies of transactions (test/support/worlds/twice.ts) does find them. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { run } from '#db/engine/database.ts'
import type { PostgresDatabase } from '#db/engine/postgres/handle.ts'
import { auditLog } from '#db/schema/index.ts'
import { runTwice } from '#test/support/worlds/twice.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => w.close())

const note = (action: string) => ({
  at: '2026-01-01T00:00:00',
  username: '',
  ip: '',
  action,
  object: '',
  detail: '',
})

test('what a body does outside it does twice, what it writes is there once, with the number that it would have had', async () => {
  let times = 0
  const [before] = w.rows('select coalesce(max(id), 0) as id from audit_log')
  for (const action of ['first', 'second']) {
    await runTwice(w.s.db as unknown as PostgresDatabase).tx(function* (tx) {
      times++
      yield* run(tx.insert(auditLog).values(note(action)))
    })
  }
  expect(times).toBe(4)
  expect(w.rows('select id, action from audit_log where id > ? order by id', before.id)).toEqual([
    { id: before.id + 1, action: 'first' },
    { id: before.id + 2, action: 'second' },
  ])
})

test('one that refuses refuses', async () => {
  await expect(
    runTwice(w.s.db as unknown as PostgresDatabase).tx(function* (tx) {
      yield* run(tx.insert(auditLog).values(note('never')))
      throw new Error('no')
    }),
  ).rejects.toThrow('no')
  expect(w.rows("select 1 from audit_log where action = 'never'")).toEqual([])
})
