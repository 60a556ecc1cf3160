/** A customer with more subscriptions than anybody has, as only a restored database brings them: to merge or delete them takes no square of it. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CUSTOMERS } from '#db/sequences.ts'
import { connectTelegram } from '#src/domain/customers/linking.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { addSubscription, addUser, inSeconds } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const MANY = 10_000

let w: World
beforeEach(async () => {
  w = await createWorld()
  w.change('insert into sequences values (?, 1)', CUSTOMERS)
  addUser(w, -1)
  addUser(w, 7)
  addSubscription(w, 7, { expires_at: inSeconds(w, 99), held_at: inSeconds(w, 0) })
  const summary = w.rows('select * from user_summaries where tg_id = -1')[0]
  w.change('delete from user_summaries where tg_id = -1')
  w.change(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${MANY})
     insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at)
     select '00000000-0000-4000-9000-' || (100000000000 + i), -1, 'de1', '1m', '2026-03-20T00:00:00', 'admin',
       '2026-01-01T00:00:00' from n`,
  )
  w.change(
    "insert into user_summaries (tg_id, created_at, banned, last_end, held) values (-1, ?, 0, '2026-03-20T00:00:00', 0)",
    summary.created_at,
  )
  expect(w.faults()).toEqual([])
})
afterEach(() => {
  expect(w.faults()).toEqual([])
  w.close()
})

/** Seconds of the processor, which others on it do not lengthen: the square of 10,000 took some 20. */
async function secondsOf(work: () => Promise<unknown>) {
  const from = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(from)
  return (user + system) / 1e6
}

test('connected to a Telegram account that is a customer already', async () => {
  w.change("insert into link_codes values (-1, ?, '2027-01-01T00:00:00')", sha256Hex('code'))
  const connect = () =>
    connectTelegram(w.s, { admin: null, ip: 'bot' }, 'code', {
      tgId: 7,
      username: null,
      lang: 'en',
    })
  expect(await secondsOf(connect)).toBeLessThan(8)
  expect(w.rows('select tg_id, last_end, held from user_summaries')).toEqual([
    { tg_id: 7, last_end: '2026-03-20T00:00:00', held: 1 },
  ])
  expect(w.rows('select count(*) as n from subscriptions where tg_id = 7')).toEqual([
    { n: MANY + 1 },
  ])
})

test('deleted', async () => {
  const remove = () => w.admin('/admin/api/users/-1', { method: 'DELETE' })
  expect(await secondsOf(remove)).toBeLessThan(8)
  expect(w.rows('select tg_id from user_summaries')).toEqual([{ tg_id: 7 }])
  expect(w.rows('select count(*) as n from subscriptions')).toEqual([{ n: 1 }])
})
