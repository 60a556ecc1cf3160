/** A customer with more rows than anybody has, as only a restored database brings them: what their link asks for is bounded. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MOST_OF_CUSTOMER } from '#db/listing.ts'
import { listTokensOfUser } from '#db/users.ts'
import { addUser, nowOf } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const MORE = MOST_OF_CUSTOMER + 50

let w: World
let token: string
beforeAll(async () => {
  w = await createWorld({ environment: { HWID_LIMIT_ENABLED: 'true', HWID_FALLBACK_LIMIT: '9' } })
  token = addUser(w, 1, { hwid_limit: MORE })
  const all = Array.from({ length: MORE }, (_, i) => i + 1)
  const two = (n: number) => String(n).padStart(2, '0')
  w.changeMany(
    `insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at)
     values (?, 1, 'de1', '1m', '2026-03-20T00:00:00', 'admin', ?)`,
    all.map((i) => [uuid(i), `2026-01-01T00:${two(Math.floor(i / 60))}:${two(i % 60)}`]),
  )
  w.changeMany(
    'insert into devices (tg_id, hwid, created_at, last_seen_at) values (1, ?, ?, ?)',
    all.map((i) => [`device-${String(i).padStart(5, '0')}`, nowOf(w), nowOf(w)]),
  )
})
afterAll(() => w.close())

const uuid = (i: number) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`
const fetchList = (hwid: string, method = 'GET') =>
  w.call(`/sub/${token}`, { method, headers: { 'user-agent': 'v2rayNG/2.3.5', 'x-hwid': hwid } })

test('their list has the oldest of what is active', async () => {
  const { text } = await fetchList('device-00001')
  const links = atob(text).trim().split('\n')
  expect(links).toHaveLength(MOST_OF_CUSTOMER)
  expect(links[0]).toContain(uuid(1))
  expect(links.at(-1)).toContain(uuid(MOST_OF_CUSTOMER))
})

test('their cabinet has as many, the shop and the card of an admin the newest', async () => {
  const cabinet = await w.call(`/api/cabinet/${token}`)
  expect(cabinet.json.subscriptions).toHaveLength(MOST_OF_CUSTOMER)
  const { json } = await w.call(`/api/cabinet/${token}/shop`)
  expect(json.subscriptions).toHaveLength(MOST_OF_CUSTOMER)
  expect(json.devices.list).toHaveLength(MOST_OF_CUSTOMER)
  const card = (await w.admin('/admin/api/users/1')).json
  expect(card.subscriptions).toHaveLength(MOST_OF_CUSTOMER)
  expect(card.subscriptions[0].uuid).toBe(uuid(MORE))
})

test('of their links as many are held against a key of the way back from paying', async () => {
  w.changeMany(
    "insert into user_tokens (token, tg_id, kind, created_at) values (?, 1, 'former', ?)",
    Array.from({ length: MORE }, (_, i) => [`former-${String(i).padStart(36, '0')}`, nowOf(w)]),
  )
  const tokens = await w.s.db.read((q) => listTokensOfUser(q, 1))
  expect(tokens).toHaveLength(MOST_OF_CUSTOMER + 1)
  expect(tokens[0]).toBe(token)
})

test('their devices are counted whole', async () => {
  for (const method of ['HEAD', 'GET']) {
    expect((await fetchList('another-device', method)).status).toBe(404)
  }
  w.change('update users set hwid_limit = ?', MORE + 1)
  for (const method of ['HEAD', 'GET']) {
    expect((await fetchList('another-device', method)).status).toBe(200)
  }
})
