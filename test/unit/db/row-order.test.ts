/** The order in which rows were written, by which lists are paged: what it was before it had a column. */
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { wrap } from '#db/engine/sqlite/handle.ts'
import { migrate, migrationNumbers } from '#db/engine/sqlite/migrate.ts'
import { listEvents } from '#db/events.ts'
import { listGifts } from '#db/gifts.ts'
import type { Cursor } from '#db/paging.ts'
import { listPayments } from '#db/payment-listing.ts'
import { listSubscriptions } from '#db/subscription-listing.ts'
import { insertSubscription, renameClient } from '#db/subscriptions.ts'

const AT = '2026-01-01T00:00:00'
const LATER = '2030-01-01T00:00:00'

/** Numbers of rows as deletions and old restores leave them, in the order in which they are written here. */
const NUMBERS = [7, 3, 12, 5]

/** A database of the version before, all rows of one second. */
function formerDatabase(): Sqlite.Database {
  const raw = new Sqlite(':memory:')
  migrate(raw, migrationNumbers()[16])
  raw.exec(`insert into users (tg_id, token, created_at) values (1, 'token', '${AT}')`)
  for (const n of NUMBERS) {
    raw.exec(`
      insert into subscriptions (rowid, uuid, tg_id, node, plan, expires_at, source, created_at)
        values (${n}, 'u${n}', 1, 'de1', '1m', '${LATER}', 'payment', '${AT}');
      insert into payments (rowid, id, tg_id, node, plan, provider, amount, currency, days, created_at, source, subscription_uuid)
        values (${n}, 'p${n}', 1, 'de1', '1m', 'provider_a', 1, 'RUB', 30, '${AT}', 'bot', 'u${n}');
      insert into gift_codes (rowid, code, node, plan, created_at) values (${n}, 'g${n}', 'de1', '1m', '${AT}');
      insert into events (rowid, id, event, data, status, created_at) values (${n}, 'e${n}', 'test', '{}', 'done', '${AT}');
      insert into counters (core, uuid, epoch, up, down) values ('de1', 'u${n}', '1', 2, 3)`)
  }
  migrate(raw)
  return raw
}

test('rows keep their numbers: pages go on from cursors that were given before, and rows that come follow', async () => {
  const raw = formerDatabase()
  const db = wrap(raw)
  const page = (order: 'asc' | 'desc', key: number | null) => {
    const cursor: Cursor | null = key === null ? null : { value: AT, key }
    return { limit: 10, order, cursor }
  }
  const all = (order: 'asc' | 'desc', key: number | null) =>
    db.read(function* (q) {
      const at = page(order, key)
      const subscriptions = yield* listSubscriptions(q, {}, 'created_at', at, AT)
      const payments = yield* listPayments(q, {}, at)
      const gifts = yield* listGifts(q, {}, at, AT)
      const events = yield* listEvents(q, at)
      return [
        subscriptions.rows.map(({ row }) => row.uuid.slice(1)),
        payments.rows.map(({ row }) => row.id.slice(1)),
        gifts.rows.map(({ row }) => row.code.slice(1)),
        events.rows.map(({ id }) => id.slice(1)),
      ]
    })
  const four = (keys: string[]) => [keys, keys, keys, keys]
  expect(await all('desc', null)).toEqual(four(['12', '7', '5', '3']))
  expect(await all('desc', 7)).toEqual(four(['5', '3']))
  expect(await all('asc', 5)).toEqual(four(['7', '12']))
  await db.tx((tx) =>
    insertSubscription(tx, {
      ...{ uuid: 'u13', tgId: 1, node: 'de1', plan: '1m', expiresAt: LATER },
      ...{ source: 'admin', createdAt: AT },
    }),
  )
  expect((await all('asc', 12))[0]).toEqual(['13'])
  db.close()
})

test('what refers to a subscription goes with it', async () => {
  const raw = formerDatabase()
  const db = wrap(raw)
  await db.tx((tx) => renameClient(tx, 'u7', 'other'))
  const paid = raw.prepare('select subscription_uuid from payments order by seq').pluck()
  expect(paid.all()).toEqual(['u3', 'u5', 'other', 'u12'])
  raw.exec('delete from users')
  expect(paid.all()).toEqual([null, null, null, null])
  expect(raw.prepare('select count(*) from counters').pluck().get()).toBe(0)
  expect(raw.pragma('foreign_key_check')).toEqual([])
  db.close()
})
