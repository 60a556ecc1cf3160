/** Links beside the present one of a user: of a former customer, and of another panel. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addSubscription, addUser } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const USERS = '/admin/api/users'
const CLIENT = { 'user-agent': 'Happ/3.5.0' }

describe('a link beside the present one', () => {
  let w: World
  let token: string
  const other = (name: string, kind: string) =>
    w.change(
      'insert into user_tokens (token, tg_id, kind, created_at) values (?, 7, ?, ?)',
      ...[name, kind, '2026-01-01T00:00:00'],
    )
  const BROWSER = { 'user-agent': 'Mozilla/5.0', accept: 'text/html' }
  beforeEach(async () => {
    w = await createWorld()
    token = addUser(w, 7)
    addSubscription(w, 7)
    other('former-link', 'former')
    other('imported-link', 'imported')
  })
  afterEach(() => w.close())
  const statusOf = async (name: string) =>
    (await w.call(`/sub/${name}`, { headers: CLIENT })).status

  test.each(['former-link', 'imported-link'])('%s answers as the present one', async (name) => {
    for (const headers of [CLIENT, BROWSER]) {
      const present = await w.call(`/sub/${token}`, { headers })
      const answer = await w.call(`/sub/${name}`, { headers })
      expect(answer.status).toBe(200)
      expect(answer.text).toBe(present.text)
      const kept = (one: typeof answer) =>
        [...one.headers].filter(([key]) => !/^(?:access-control|vary|content-security)/.test(key))
      expect(kept(answer)).toEqual(kept(present))
    }
    const cabinet = await w.call(`/api/cabinet/${name}`)
    expect(cabinet.json).toEqual((await w.call(`/api/cabinet/${token}`)).json)
  })

  test('ends with another link, of another panel only unless it is kept', async () => {
    const rotate = (body?: unknown) =>
      w.admin(`${USERS}/7/rotate-token`, { method: 'POST', ...(body ? { body } : {}) })
    await rotate({ keep_imported: true })
    expect([await statusOf('former-link'), await statusOf('imported-link')]).toEqual([404, 200])
    await rotate()
    expect(await statusOf('imported-link')).toBe(404)
    expect(w.rows('select * from user_tokens')).toEqual([])
    expect((await rotate({ keep_imported: 'x' })).status).toBe(400)
  })

  test('is looked for only where a token is nobody’s present one', async () => {
    w.change('drop table user_tokens')
    expect(await statusOf(token)).toBe(200)
  })

  test('goes with its owner', async () => {
    await w.admin(`${USERS}/7`, { method: 'DELETE' })
    expect(await statusOf('former-link')).toBe(404)
  })
})
