import { expect } from 'vitest'
import {
  ADMITTED,
  buyer,
  devices,
  limit,
  list,
  REACHED,
  REFUSED,
  withDevices,
} from '#test/support/calls/list-devices.ts'
import { addDevice, addUser, inSeconds } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const ON = { environment: { HWID_LIMIT_ENABLED: 'true', HWID_FALLBACK_LIMIT: '2' } }
const HWID = 'device-0001'

const REQUIRED = {
  status: 404,
  headers: { ...REFUSED, 'x-hwid-not-supported': 'true', 'x-hwid-max-devices-reached': null },
  error: 'hwid required',
}

const malformed = [
  ['no id', undefined],
  ['an empty id', ''],
  ['9 characters', 'a'.repeat(9)],
  ['65 characters', 'a'.repeat(65)],
  ['a space', 'device 0001'],
  ['an underscore', 'device_0001'],
  ['a plus', 'device+0001'],
  ['a slash', 'device/0001'],
  ['a colon', 'device:0001'],
  ['a letter outside ASCII', 'devicé-0001'],
] as const

scenarios(
  'GET /sub/{token}: the device id',
  [
    ...malformed.map(([what, hwid]) => ({
      name: `404 with x-hwid-not-supported for ${what}`,
      given: buyer,
      request: (token: string) => list(token, hwid),
      ...REQUIRED,
    })),
    ...['a'.repeat(10), 'a'.repeat(64), 'AZaz09=-AZaz09=-', '----------'].map((hwid) => ({
      name: `200 for ${hwid}, which is registered`,
      given: buyer,
      request: (token: string) => list(token, hwid),
      ...ADMITTED,
      effects: (w: World) => expect(devices(w)).toEqual([hwid]),
    })),
    {
      name: '200 with what the device says of itself, cut and cleaned',
      given: buyer,
      request: (token) =>
        list(token, HWID, {
          'user-agent': `Happ/${'9'.repeat(400)}`,
          'x-device-os': ' Android ',
          'x-device-model': `a\u0085b${'m'.repeat(400)}`,
        }),
      ...ADMITTED,
      effects: (w) => {
        const [row] = w.rows('select * from devices')
        expect(row).toMatchObject({
          tg_id: 7,
          device_os: 'Android',
          created_at: '2026-03-01T12:00:00',
          last_seen_at: '2026-03-01T12:00:00',
        })
        expect(row.user_agent).toHaveLength(256)
        expect(row.device_model).toMatch(/^abm+$/)
      },
    },
    {
      name: '200 with a page for a browser, whatever the device',
      given: (w) => buyer(w, 0),
      request: (token) => list(token, undefined, { 'user-agent': 'Mozilla/5.0' }),
      status: 200,
      headers: { 'content-type': /^text\/html/, 'x-hwid-active': null },
      effects: (w) => expect(devices(w)).toEqual([]),
    },
    {
      name: '404 for a browser that asks for a format without an id',
      given: buyer,
      request: (token) => ({
        ...list(token, undefined, { 'user-agent': 'Mozilla/5.0', accept: '*/*' }),
        path: `/sub/${token}?format=links`,
      }),
      ...REQUIRED,
    },
    {
      name: '404 for a device without an id even where nothing is left to fetch',
      given: (w) => addUser(w, 7),
      request: (token) => list(token),
      ...REQUIRED,
    },
    {
      name: '404 and no page for a client that is refused',
      given: buyer,
      request: (token) => list(token, undefined, { accept: '*/*' }),
      ...REQUIRED,
    },
  ],
  ON,
)

scenarios(
  'GET /sub/{token}: the device limit',
  [
    limit('200 for the last free place of the fallback', withDevices(1), HWID, ADMITTED, true),
    limit('404 when the fallback is reached', withDevices(2), HWID, REACHED, false),
    limit('404 when it is exceeded', withDevices(3), HWID, REACHED, false),
    limit('200 for a known device at the limit', withDevices(2), 'known-000001', ADMITTED),
    limit(
      '200 for a known device over a lowered limit',
      withDevices(3, 1),
      'known-000002',
      ADMITTED,
    ),
    limit('200 under an own limit above the fallback', withDevices(4, 5), HWID, ADMITTED, true),
    limit('404 at an own limit above the fallback', withDevices(5, 5), HWID, REACHED, false),
    limit('404 at an own limit below the fallback', withDevices(1, 1), HWID, REACHED, false),
    limit('404 for the first device under an explicit 0', withDevices(0, 0), HWID, REACHED, false),
    limit('404 for a known device under an explicit 0', withDevices(1, 0), 'known-000000', REACHED),
    {
      name: '404 for a missing id, not for the limit, under an explicit 0',
      given: (w) => buyer(w, 0),
      request: (token) => list(token),
      ...REQUIRED,
    },
    {
      name: '200 for the id that another user has, counted for each separately',
      given: (w) => {
        addUser(w, 8)
        addDevice(w, 8, HWID)
        addDevice(w, 8, 'known-000009')
        return withDevices(1)(w)
      },
      request: (token) => list(token, HWID),
      ...ADMITTED,
      effects: (w) =>
        expect(w.rows('select tg_id from devices where hwid = ? order by tg_id', HWID)).toEqual([
          { tg_id: 7 },
          { tg_id: 8 },
        ]),
    },
    {
      name: '404 for an expired user at the limit, as for any',
      given: (w) => {
        const token = withDevices(2)(w)
        w.change('update subscriptions set expires_at = ?', inSeconds(w, 0))
        return token
      },
      request: (token) => list(token, HWID),
      ...REACHED,
    },
    {
      name: '200 for HEAD of a new device, which is not registered',
      given: buyer,
      request: (token) => ({ ...list(token, HWID), method: 'HEAD' }),
      ...ADMITTED,
      body: '',
      effects: (w) => expect(devices(w)).toEqual([]),
    },
    {
      name: '404 for HEAD at the limit, with the headers of GET',
      given: withDevices(2),
      request: (token) => ({ ...list(token, HWID), method: 'HEAD' }),
      status: REACHED.status,
      headers: REACHED.headers,
      body: '',
    },
    {
      name: '404 for HEAD without an id, with the headers of GET',
      given: buyer,
      request: (token) => ({ ...list(token), method: 'HEAD' }),
      status: REQUIRED.status,
      headers: REQUIRED.headers,
      body: '',
    },
  ],
  ON,
)
