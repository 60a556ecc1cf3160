/** Traffic of subscriptions that begin with their first use: its first period does so too. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { resetTrafficPeriods } from '#src/domain/subscriptions/resets.ts'
import { nextTurn } from '#src/lib/event-loop.ts'
import { addNode, addUser, DAY, inSeconds, nowOf } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const API = '/admin/api'
const GB = 1024 ** 3
const ORDER = { node: 'de1', plan: '1m', start: 'first_use', days: 3000 }

let w: World
let uuid: string
let token: string
const begin = async (period: string) => {
  const body = { quota_gb: 10, quota_period: period }
  await w.admin(`${API}/plans/1m`, { method: 'PATCH', body })
  const granted = (await w.admin(`${API}/users/7/grant`, { body: ORDER })).json
  uuid = granted.uuid
  token = (await w.admin(`${API}/users/7`)).json.token
  await w.s.background.idle()
  return granted
}
beforeEach(async () => {
  w = await createWorld()
  addUser(w, 7, { telegram_id: 7 })
})
afterEach(async () => {
  // Reads of this turn share a transaction.
  await nextTurn()
  expect(w.faults()).toEqual([])
  w.close()
})

const row = () =>
  w.rows('select resets_at, quota_anchor, used_bytes, started_at from subscriptions')[0]
const view = async () => (await w.admin(`${API}/subscriptions`)).json[0]
const use = async (bytes: number) => {
  const [up] = w.node.counters.get(uuid) ?? [0]
  w.node.counters.set(uuid, [up + bytes, 0])
  await w.s.nodeSync.syncAll({ force: false, remove: true })
}
const pass = (days: number) => w.clock.advance(days * DAY * 1000)
const patch = (body: object) => w.admin(`${API}/subscriptions/${uuid}`, { method: 'PATCH', body })
const post = (verb: string) => w.admin(`${API}/subscriptions/${uuid}/${verb}`, { method: 'POST' })

describe('a period', () => {
  test.each([
    ['rolling', '2026-07-09T12:00:00', '2027-04-01T12:00:00'],
    ['month', '2026-07-01T00:00:00', '2027-04-01T00:00:00'],
    ['week', '2026-06-15T00:00:00', '2027-03-08T00:00:00'],
    ['day', '2026-06-10T00:00:00', '2027-03-02T00:00:00'],
  ])('%s begins with the first use, and counts what brought it', async (period, ends, latest) => {
    expect(await begin(period)).toMatchObject({ quota_period: period, resets_at: null })
    // As if it began when it does so at the latest.
    expect(row()).toMatchObject({ quota_anchor: '2027-03-01T12:00:00', resets_at: latest })
    pass(100)
    await resetTrafficPeriods(w.s)
    await use(3 * GB)
    expect(nowOf(w)).toBe('2026-06-09T12:00:00')
    expect(row()).toEqual({
      ...{ quota_anchor: '2026-06-09T12:00:00', resets_at: ends },
      ...{ used_bytes: 3 * GB, started_at: '2026-06-09T12:00:00' },
    })
    expect(await view()).toMatchObject({ resets_at: ends, used_bytes: 3 * GB })
    pass(10)
    await use(1)
    expect(row()).toMatchObject({ quota_anchor: '2026-06-09T12:00:00' })
  })

  test('begins by itself when nobody uses it', async () => {
    await begin('rolling')
    pass(370)
    expect(await view()).toMatchObject({ resets_at: '2027-04-01T12:00:00' })
    await use(1)
    expect(row()).toMatchObject({ resets_at: '2027-04-01T12:00:00', started_at: null })
    pass(26)
    await resetTrafficPeriods(w.s)
    expect(row()).toMatchObject({ resets_at: '2027-05-01T12:00:00', used_bytes: 0 })
  })

  test.each(['rolling', 'month'])('%s waits with it through a pause', async (period) => {
    await begin(period)
    pass(360)
    await post('hold')
    pass(60)
    await resetTrafficPeriods(w.s)
    await post('resume')
    const ends = period === 'rolling' ? '2027-05-30T12:00:00' : '2027-05-01T00:00:00'
    expect(row()).toMatchObject({ quota_anchor: '2027-04-30T12:00:00', resets_at: ends })
  })

  test('of another quota that an admin sets begins with it too', async () => {
    await begin('none')
    await patch({ quota_gb: 20, quota_period: 'rolling' })
    expect(await view()).toMatchObject({ resets_at: null, quota_bytes: 20 * GB })
    pass(40)
    await use(1)
    expect(row()).toMatchObject({ quota_anchor: nowOf(w), resets_at: '2026-05-10T12:00:00' })
  })

  test('begins when an admin sets the end, which it is not waited for any more', async () => {
    await begin('rolling')
    pass(1)
    await patch({ expires_at: inSeconds(w, 100 * DAY) })
    expect(row()).toMatchObject({ quota_anchor: nowOf(w), resets_at: '2026-04-02T12:00:00' })
  })

  test('begins with a fetch where others manage the server; until then lists name none', async () => {
    addNode(w, 'ext', { shared_uuid: '99999999-9999-4999-8999-999999999999' })
    await begin('rolling')
    const fetch = async () => {
      const options = { host: 'sub.test', headers: { 'user-agent': 'Happ/3.26.3' } }
      const answer = await w.call(`/sub/${token}`, options)
      await w.s.background.idle()
      return answer.headers.get('subscription-refill-date')
    }
    expect(await fetch()).toBeNull()
    w.change("update subscriptions set node = 'ext'")
    pass(5)
    expect(await fetch()).toBeNull()
    expect(row()).toMatchObject({ quota_anchor: nowOf(w), resets_at: '2026-04-06T12:00:00' })
    expect(await fetch()).toBe(String(Date.parse('2026-04-06T12:00:00Z') / 1000))
  })
})
