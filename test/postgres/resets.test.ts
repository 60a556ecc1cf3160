/** New periods of traffic beside what others write of the same subscriptions. */
import pg from 'pg'
import { expect, test } from 'vitest'
import { resetTrafficPeriods } from '#src/domain/subscriptions/resets.ts'
import { pause } from '#src/lib/pause.ts'
import { addSubscription, addUser, DAY, inSeconds } from '#test/support/rows/records.ts'
import { createWorld } from '#test/support/worlds/world.ts'

const GB = 1024 ** 3

test('what is bought and changed while a period begins stays', async () => {
  const w = await createWorld()
  addUser(w, 1)
  const uuid = addSubscription(w, 1, {
    ...{ quota_bytes: 100 * GB, quota_period: 'month', used_bytes: 10 * GB },
    ...{ resets_at: inSeconds(w, -60), quota_anchor: inSeconds(w, -30 * DAY) },
  })
  const url = new URL(process.env.DATABASE_URL as string)
  url.pathname = `/${w.rows('select current_database() as name')[0].name}`
  const other = new pg.Client({ connectionString: url.href })
  await other.connect()
  await other.query('begin isolation level serializable')
  await other.query('update subscriptions set extra_bytes = $1, quota_bytes = $2 where uuid = $3', [
    ...[50 * GB, 500 * GB, uuid],
  ])
  const reset = resetTrafficPeriods(w.s)
  // By then it waits for the row.
  await pause(500)
  await other.query('commit')
  await other.end()
  await reset
  const [row] = w.rows('select quota_bytes, extra_bytes, used_bytes from subscriptions')
  expect(Object.values(row).map(Number)).toEqual([500 * GB, 50 * GB, 0])
  w.close()
})
