import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { revokeSubscription } from '#db/subscriptions.ts'
import { addNode, addSubscription, addUser, DAY, inSeconds } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
let directory: string
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'subpanel-list-'))
  w = await createWorld({ path: join(directory, 'panel.db') })
})
afterEach(() => {
  w.close()
  rmSync(directory, { recursive: true })
})

const fetchList = async (token: string, headers: Record<string, string> = {}) => {
  const answer = await w.call(`/sub/${token}?format=links`, { host: 'sub.test', headers })
  const lines = answer.text === '' ? [] : answer.text.trimEnd().split('\n')
  const names = lines.map((line) => decodeURIComponent(line.split('#')[1] ?? ''))
  return { status: answer.status, headers: answer.headers, text: answer.text, names }
}

/** A user whose list has been fetched, so that it is kept. */
async function known() {
  const token = addUser(w, 7)
  addNode(w, 'nl', { label: 'NL' })
  const uuid = addSubscription(w, 7, { node: 'nl' })
  expect((await fetchList(token)).names).toEqual(['NL'])
  return { token, uuid }
}

const admin = async (path: string, body?: unknown, method = 'POST') => {
  const answer = await w.admin(`/admin/api${path}`, {
    method,
    ...(body === undefined ? {} : { body }),
  })
  expect(answer.status, answer.text).toBe(200)
  return answer.json
}

describe('a kept list changes at once', () => {
  test('when another subscription is granted', async () => {
    const { token } = await known()
    await admin('/users/7/grant', { node: 'de1', plan: '3m' })
    expect((await fetchList(token)).names).toEqual(['NL', 'Local'])
  })

  test('when one is held, resumed and revoked', async () => {
    const { token, uuid } = await known()
    await admin(`/subscriptions/${uuid}/hold`)
    expect((await fetchList(token)).names).toEqual([])
    await admin(`/subscriptions/${uuid}/resume`)
    expect((await fetchList(token)).names).toEqual(['NL'])
    await admin(`/subscriptions/${uuid}/revoke`)
    expect((await fetchList(token)).names).toEqual([])
  })

  test.each([
    [{ label: 'Renamed' }, '#Renamed'],
    [{ address: 'other.test' }, '@other.test:443'],
    [{ port: 8443 }, ':8443'],
    [{ sni: 'other-sni.test' }, 'sni=other-sni.test'],
    [{ short_id: 'ffff' }, 'sid=ffff'],
    [{ public_key: 'Q'.repeat(43) }, `pbk=${'Q'.repeat(43)}`],
    [{ flow: '' }, ''],
    [{ shared_uuid: '99999999-9999-4999-8999-999999999999' }, '//99999999-9999-'],
  ])('when its node is edited: %j', async (change, part) => {
    const { token } = await known()
    const before = await fetchList(token)
    await admin('/nodes/nl', change, 'PATCH')
    const after = await fetchList(token)
    expect(after.text).not.toBe(before.text)
    expect(after.text).toContain(part)
  })

  test('when its node is deleted behind the back of the service', async () => {
    const { token } = await known()
    w.change("delete from nodes where code = 'nl'")
    expect((await fetchList(token)).names).toEqual([])
  })

  test('when a plan that names its entries gets another label', async () => {
    const { token } = await known()
    addSubscription(w, 7, { node: 'nl', plan: '3m' })
    expect((await fetchList(token)).names).toEqual(['NL · 30 days', 'NL · 90 days'])
    w.change("update plans set label = 'Quarter' where code = '3m'")
    expect((await fetchList(token)).names).toEqual(['NL · 30 days', 'NL · Quarter'])
  })

  test('when the brand is set, changed and removed', async () => {
    const { token } = await known()
    const title = async () => {
      const { headers } = await fetchList(token)
      return atob((headers.get('profile-title') ?? '').slice('base64:'.length))
    }
    expect(await title()).toBe('Subpanel')
    w.change("insert into settings (key, value) values ('BRAND_NAME', 'One')")
    expect(await title()).toBe('One')
    w.change("update settings set value = 'Two' where key = 'BRAND_NAME'")
    expect(await title()).toBe('Two')
    w.change("delete from settings where key = 'BRAND_NAME'")
    expect(await title()).toBe('Subpanel')
  })

  test('when the device limit is switched on and off', async () => {
    const { token } = await known()
    await admin('/hwid-settings', { enabled: true })
    expect((await fetchList(token)).status).toBe(404)
    expect((await fetchList(token, { 'x-hwid': 'device-0001' })).names).toEqual(['NL'])
    await admin('/hwid-settings', { enabled: false })
    expect((await fetchList(token)).names).toEqual(['NL'])
  })

  test('when traffic is counted', async () => {
    const { token } = await known()
    w.change('update subscriptions set up_bytes = 5, down_bytes = 6')
    const { headers } = await fetchList(token)
    expect(headers.get('subscription-userinfo')).toMatch(/^upload=5; download=6; /)
  })

  test('when the user is banned and let in again', async () => {
    const { token } = await known()
    w.change('update users set banned_at = created_at')
    expect((await fetchList(token)).names).toEqual([])
    w.change('update users set banned_at = null')
    expect((await fetchList(token)).names).toEqual(['NL'])
  })

  test('when the token is replaced: the old one is unknown, the new one names itself', async () => {
    const { token } = await known()
    w.change("update users set token = 'another-token'")
    expect((await fetchList(token)).status).toBe(404)
    const { names, headers } = await fetchList('another-token')
    expect(names).toEqual(['NL'])
    expect(headers.get('profile-web-page-url')).toBe('https://sub.test/sub/another-token')
  })

  test('when a subscription moves to another user', async () => {
    const { token } = await known()
    const other = addUser(w, 8)
    expect((await fetchList(other)).names).toEqual([])
    w.change('update subscriptions set tg_id = 8')
    expect((await fetchList(token)).names).toEqual([])
    expect((await fetchList(other)).names).toEqual(['NL'])
  })
})

describe('a kept list changes with the time', () => {
  test('at the very second in which a subscription expires', async () => {
    const token = addUser(w, 7)
    addSubscription(w, 7, { expires_at: inSeconds(w, 10) })
    addNode(w, 'nl', { label: 'NL' })
    addSubscription(w, 7, { node: 'nl', expires_at: inSeconds(w, 20) })
    expect((await fetchList(token)).names).toEqual(['Local', 'NL'])
    w.clock.advance(9999)
    expect((await fetchList(token)).names).toEqual(['Local', 'NL'])
    w.clock.advance(1)
    expect((await fetchList(token)).names).toEqual(['NL'])
    w.clock.advance(9999)
    expect((await fetchList(token)).names).toEqual(['NL'])
    w.clock.advance(1)
    expect((await fetchList(token)).names).toEqual([])
  })

  test('at the very second in which the last three days begin', async () => {
    const token = addUser(w, 7)
    addSubscription(w, 7, { expires_at: inSeconds(w, 3 * DAY + 5) })
    const announce = async () => (await fetchList(token)).headers.get('announce')
    expect(await announce()).toBeNull()
    w.clock.advance(4999)
    expect(await announce()).toBeNull()
    w.clock.advance(1)
    expect(await announce()).toMatch(/^base64:/)
    await admin('/users/7/grant', { node: 'de1', plan: '1m' })
    expect(await announce()).toMatch(/^base64:/)
  })
})

/** Fetches of one turn of the event loop share a read transaction: what others commit is seen from the next turn on. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('a write of another connection', () => {
  test('to a subscription, a node, a setting and the revision itself is seen at once', async () => {
    const { token } = await known()
    const other = new Sqlite(join(directory, 'panel.db'))
    other.exec("update nodes set label = 'Elsewhere' where code = 'nl'")
    await nextTurn()
    expect((await fetchList(token)).names).toEqual(['Elsewhere'])
    other.exec("update subscriptions set expires_at = '2026-03-01T12:00:00'")
    await nextTurn()
    expect((await fetchList(token)).names).toEqual([])
    other.exec("update subscriptions set expires_at = '2026-04-01T12:00:00'")
    other.exec("insert into settings (key, value) values ('HWID_LIMIT_ENABLED', 'true')")
    await nextTurn()
    expect((await fetchList(token)).status).toBe(404)
    expect((await w.admin('/admin/api/hwid-settings')).json.enabled).toBe(true)
    other.exec("delete from settings where key = 'HWID_LIMIT_ENABLED'")
    await nextTurn()
    expect((await fetchList(token)).names).toEqual(['Elsewhere'])
    other.exec("update plans set price = 4321 where code = '1m'")
    await nextTurn()
    expect((await w.call('/api/plans')).json[0].price).toBe(4321)
    other.close()
  })

  test('that comes between two fetches of one turn is seen by the next turn, one of this process at once', async () => {
    const { token, uuid } = await known()
    const other = new Sqlite(join(directory, 'panel.db'))
    other.exec("update nodes set label = 'Elsewhere' where code = 'nl'")
    other.close()
    expect((await fetchList(token)).names).toEqual(['NL'])
    await nextTurn()
    expect((await fetchList(token)).names).toEqual(['Elsewhere'])
    await w.s.db.tx((tx) => revokeSubscription(tx, uuid, '2026-03-01T12:00:00'))
    expect((await fetchList(token)).names).toEqual([])
  })

  test('that is not committed is not seen, and holds no reader up', async () => {
    const { token } = await known()
    const other = new Sqlite(join(directory, 'panel.db'))
    other.exec('begin immediate')
    other.exec("update nodes set label = 'Elsewhere' where code = 'nl'")
    expect((await fetchList(token)).names).toEqual(['NL'])
    other.exec('rollback')
    expect((await fetchList(token)).names).toEqual(['NL'])
    other.close()
  })
})

test('the lists of different clients are kept apart', async () => {
  const { token } = await known()
  const as = async (agent: string) =>
    (await w.call(`/sub/${token}`, { headers: { 'user-agent': agent } })).text
  const agents = ['v2rayNG/1', 'Shadowrocket/1', 'clash/1', 'SFA/1.11.0 (1; sing-box 1.11.0)']
  agents.push('SFA/1.14.0 (1; sing-box 1.14.0)')
  const first = await Promise.all(agents.map(as))
  expect(await Promise.all(agents.map(as))).toEqual(first)
  expect(new Set(first.slice(1)).size).toBe(4)
})
