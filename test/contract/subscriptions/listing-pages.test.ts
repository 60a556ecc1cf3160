/** The pages of the listing of subscriptions. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addSubscription, addUser, DAY, inSeconds } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const LIST = '/admin/api/subscriptions'
const uuids = (answer: { json: { uuid: string }[] }) => answer.json.map(({ uuid }) => uuid)

describe('the pages of the listing', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
    addUser(w, 7)
  })
  afterEach(() => w.close())

  /** Follows `Link` from the first page on; `between` acts between two pages. */
  async function readAll(query: string, between = () => {}): Promise<string[]> {
    const found: string[] = []
    let path = `${LIST}?${query}`
    for (let page = 0; page < 100; page++) {
      const answer = await w.admin(path)
      expect(answer.status, answer.text).toBe(200)
      found.push(...uuids(answer))
      const next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
      if (next === undefined) return found
      path = next
      between()
    }
    throw new Error('the pages never end')
  }

  /** Many with the same second, so that the row's number must decide. */
  function many(count: number): string[] {
    return Array.from({ length: count }, (_, i) =>
      addSubscription(w, 7, {
        created_at: inSeconds(w, Math.floor(i / 4)),
        expires_at: inSeconds(w, (i % 5) * DAY),
      }),
    )
  }

  test('have everything once, whatever the limit', async () => {
    const all = many(23)
    for (const limit of [1, 2, 3, 5, 22, 23, 24, 1000]) {
      expect(await readAll(`limit=${limit}`), String(limit)).toEqual(all.toReversed())
      expect(await readAll(`limit=${limit}&order=asc`), String(limit)).toEqual(all)
      const sorted = await readAll(`limit=${limit}&sort=expires_at`)
      expect(sorted).toHaveLength(23)
      expect(new Set(sorted).size).toBe(23)
    }
  })

  test('have neither gaps nor repeats while rows are added and deleted', async () => {
    const all = many(20)
    const added: string[] = []
    const found = await readAll('limit=3', () => {
      added.push(addSubscription(w, 7, { created_at: inSeconds(w, 900) }))
    })
    expect(found).toEqual(all.toReversed())
    expect(added.length).toBeGreaterThan(3)
    for (const uuid of added) w.change('delete from subscriptions where uuid = ?', uuid)
    const rest = await readAll('limit=3', () => {
      w.change(
        'delete from subscriptions where uuid = (select uuid from subscriptions order by created_at desc, seq desc limit 1)',
      )
    })
    expect(rest).toEqual(all.toReversed())
  })

  test('keep their filters in the link, and their total', async () => {
    many(10)
    addUser(w, 8, { username: 'ünïcode & co' })
    const own = Array.from({ length: 5 }, () => addSubscription(w, 8))
    const query = `limit=2&tg_id=8&status=active&q=${encodeURIComponent('ünïcode & co')}`
    expect((await readAll(query)).sort()).toEqual(own.sort())
    expect((await w.admin(`${LIST}?${query}`)).headers.get('x-total-count')).toBe('5')
  })

  test('are of 100 by default and end without a link', async () => {
    many(100)
    const first = await w.admin(LIST)
    expect(first.json).toHaveLength(100)
    expect(await readAll('')).toHaveLength(100)
    many(1)
    expect((await w.admin(LIST)).json).toHaveLength(100)
    expect(await readAll('')).toHaveLength(101)
  })

  test('count exactly up to 10000 and say so above', async () => {
    const insert =
      "insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at) values (?, ?, 'de1', '1m', '2027-01-01T00:00:00', 'admin', '2026-01-01T00:00:00')"
    // What is counted of a user is counted anew with each of their rows: 10,000 of one would take half a minute.
    for (let i = 0; i < 200; i++) addUser(w, 1000 + i)
    const rows = Array.from({ length: 10_000 }, (_, i) => [`row-${i}`, 1000 + (i % 200)])
    w.changeMany(insert, rows)
    const totals = async () => {
      const { headers } = await w.admin(`${LIST}?limit=1`)
      return [headers.get('x-total-count'), headers.get('x-total-capped')]
    }
    expect(await totals()).toEqual(['10000', null])
    w.change(insert, 'one more', 7)
    expect(await totals()).toEqual(['10000', '1'])
  })
})
