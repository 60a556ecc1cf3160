/** The list of users as a table for spreadsheets. */

import { describe, expect, test } from 'vitest'
import { crowd, shop, walk } from '#test/support/rows/listed-users.ts'
import { addUser } from '#test/support/rows/records.ts'
import { testOnSqlite } from '#test/support/worlds/engines.ts'
import { createWorld } from '#test/support/worlds/world.ts'

const USERS = '/admin/api/users'
const HEADER = 'tg_id,username,created_at,note,banned_at,blocked_at,active,held,next_expiry,devices'

describe('GET /admin/api/users?format=csv', () => {
  test('is a download of all that match, in their order, whatever the limit', async () => {
    const w = await createWorld()
    shop(w)
    const { status, headers, text } = await w.admin(`${USERS}?format=csv&limit=1&order=asc&q=7`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="users-2026-03-01.csv"')
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(text.split('\r\n')).toEqual([
      HEADER,
      '71,Alice,2026-01-01T00:00:00,vip,,,2,1,2026-03-06T12:00:00,2',
      '7,alan_b,2026-01-02T00:00:00,,2026-02-01T00:00:00,,0,1,,0',
      '',
    ])
    w.close()
  })

  test('quotes as RFC 4180 says, and lets no cell be a formula', async () => {
    const w = await createWorld()
    const notes = [
      ['a,b', '"a,b"'],
      ['say "hi"', '"say ""hi"""'],
      ['two\nlines', '"two\nlines"'],
      ['two\r\nlines', '"two\r\nlines"'],
      ['=1+1', "'=1+1"],
      ['+7 900', "'+7 900"],
      ['-5', "'-5"],
      ['@SUM(A1)', "'@SUM(A1)"],
      ['\tx', "'\tx"],
      ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
      ['a=1', 'a=1'],
      ['не звонить', 'не звонить'],
    ] as const
    notes.forEach(([note], i) => {
      addUser(w, i + 1, { note })
    })
    const { text } = await w.admin(`${USERS}?format=csv&sort=tg_id&order=asc`)
    const rows = notes.map(([, cell], i) => `${i + 1},,2026-03-01T12:00:00,${cell},,,0,0,,0\r\n`)
    expect(text).toBe(`${HEADER}\r\n${rows.join('')}`)
    w.close()
  })

  test('goes on over many batches', async () => {
    const w = await createWorld()
    crowd(w, 1203)
    const { text } = await w.admin(`${USERS}?format=csv`)
    const lines = text.trimEnd().split('\r\n').slice(1)
    expect(lines.map((row) => Number(row.split(',')[0]))).toEqual(
      await walk(w, `${USERS}?limit=1000`),
    )
    w.close()
  })

  testOnSqlite('goes on where the row of a user is not found', async () => {
    const w = await createWorld()
    crowd(w, 1203)
    const [gone] = await walk(w, `${USERS}?limit=1000`)
    w.change('drop trigger fact_users_delete')
    w.change('delete from users where tg_id = ?', gone)
    const { text } = await w.admin(`${USERS}?format=csv`)
    expect(text.trimEnd().split('\r\n')).toHaveLength(1 + 1202)
    w.close()
  })

  test('lets other requests through between its batches', async () => {
    const w = await createWorld()
    crowd(w, 5000)
    let over = false
    const all = w.admin(`${USERS}?format=csv`).then(() => (over = true))
    let turns = 0
    while (!over) {
      await new Promise((resolve) => setImmediate(resolve))
      turns++
    }
    await all
    expect(turns).toBeGreaterThan(9)
    w.close()
  })

  test('has only its header without a match', async () => {
    const w = await createWorld()
    expect((await w.admin(`${USERS}?format=csv`)).text).toBe(`${HEADER}\r\n`)
    w.close()
  })
})
