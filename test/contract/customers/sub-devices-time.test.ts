/** Devices of a list as time passes. */
import { afterEach, describe, expect, test } from 'vitest'
import { devices, list, withDevices } from '#test/support/calls/list-devices.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const ON = { environment: { HWID_LIMIT_ENABLED: 'true', HWID_FALLBACK_LIMIT: '2' } }
const HWID = 'device-0001'

describe('GET /sub/{token}: devices over time', () => {
  let w: World
  afterEach(() => w.close())

  const fetchList = async (token: string, hwid: string, method = 'GET') => {
    const { path, ...options } = list(token, hwid)
    return (await w.call(path, { ...options, method })).status
  }
  const lastSeen = () => w.rows('select last_seen_at as at from devices').map((row) => row.at)
  const flush = async () => {
    w.s.seenDevices.flush()
    await w.s.background.idle()
  }

  test('two new devices at once for the last place: exactly one is let in', async () => {
    w = await createWorld(ON)
    const token = withDevices(1)(w)
    const statuses = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        fetchList(token, `racing-${String(i).padStart(4, '0')}`),
      ),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 404)).toHaveLength(19)
    expect(devices(w)).toHaveLength(2)
  })

  test('one new device twenty times at once is one device', async () => {
    w = await createWorld(ON)
    const token = withDevices(1)(w)
    const statuses = await Promise.all(Array.from({ length: 20 }, () => fetchList(token, HWID)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(devices(w)).toEqual(['known-000000', HWID])
  })

  test('last_seen_at is written once an hour, after the answer, together', async () => {
    w = await createWorld(ON)
    const token = withDevices(2)(w)
    const start = '2026-03-01T12:00:00'
    w.clock.advance(3_600_000)
    await fetchList(token, 'known-000000')
    await flush()
    expect(lastSeen()).toEqual([start, start])
    w.clock.advance(1000)
    await fetchList(token, 'known-000000', 'HEAD')
    await flush()
    expect(lastSeen()).toEqual([start, start])
    await fetchList(token, 'known-000000')
    await fetchList(token, 'known-000000')
    await fetchList(token, 'known-000001')
    expect(lastSeen()).toEqual([start, start])
    await flush()
    expect(lastSeen()).toEqual(['2026-03-01T13:00:01', '2026-03-01T13:00:01'])
  })

  test('a removed device makes room at once', async () => {
    w = await createWorld(ON)
    const token = withDevices(2)(w)
    expect(await fetchList(token, HWID)).toBe(404)
    const id = w.rows('select min(id) as id from devices')[0].id
    await w.admin(`/admin/api/users/7/devices/${id}`, { method: 'DELETE' })
    expect(await fetchList(token, HWID)).toBe(200)
    expect(await fetchList(token, 'known-000000')).toBe(404)
  })

  test('limits apply as soon as an admin sets them', async () => {
    w = await createWorld(ON)
    const token = withDevices(2)(w)
    const set = (path: string, body: unknown) => w.admin(`/admin/api${path}`, { body })
    expect(await fetchList(token, HWID)).toBe(404)
    await set('/hwid-settings', { fallback_limit: 3 })
    expect(await fetchList(token, HWID)).toBe(200)
    await set('/users/7/hwid-limit', { limit: 3 })
    expect(await fetchList(token, 'device-0002')).toBe(404)
    await set('/hwid-settings', { enabled: false })
    expect(await fetchList(token, 'bad')).toBe(200)
    await set('/hwid-settings', { enabled: true })
    expect(await fetchList(token, 'bad')).toBe(404)
    await set('/users/7/hwid-limit', { limit: 4 })
    expect(await fetchList(token, 'device-0002')).toBe(200)
  })
})
