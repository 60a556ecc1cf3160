import { expect } from 'vitest'
import { auditOf } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const HWID = '/admin/api/hwid-settings'
const setHwid = (body: unknown) => ({ path: HWID, body })

scenarios('/admin/api/hwid-settings', [
  {
    name: '200 with the defaults',
    request: { path: HWID },
    status: 200,
    body: { enabled: false, fallback_limit: 5 },
  },
  {
    name: '200 with the values of the environment',
    world: { environment: { HWID_LIMIT_ENABLED: 'TRUE', HWID_FALLBACK_LIMIT: '7' } },
    request: { path: HWID },
    status: 200,
    body: { enabled: true, fallback_limit: 7 },
  },
  {
    name: '200 and a saved value wins over the environment, also when it is false',
    world: { environment: { HWID_LIMIT_ENABLED: 'true', HWID_FALLBACK_LIMIT: '7' } },
    request: setHwid({ enabled: false }),
    status: 200,
    body: { enabled: false, fallback_limit: 7 },
    effects: (w) =>
      expect(w.rows("select key, value from settings where key like 'HWID%'")).toEqual([
        { key: 'HWID_LIMIT_ENABLED', value: 'false' },
      ]),
  },
  ...[
    [
      { enabled: true, fallback_limit: 3 },
      { enabled: true, fallback_limit: 3 },
    ],
    [{ enabled: true }, { enabled: true, fallback_limit: 5 }],
    [{ fallback_limit: 1 }, { enabled: false, fallback_limit: 1 }],
    [{ fallback_limit: 1000 }, { enabled: false, fallback_limit: 1000 }],
    [
      { enabled: false, fallback_limit: 5 },
      { enabled: false, fallback_limit: 5 },
    ],
  ].map(([body, saved]) => ({
    name: `200 and saved: ${JSON.stringify(body)}`,
    request: setHwid(body),
    status: 200,
    body: saved,
    effects: async (w: World) => {
      expect((await w.admin(HWID)).json).toEqual(saved)
      expect(auditOf(w)).toEqual(['settings.change'])
    },
  })),
  ...(
    [
      [{}, 'nothing to change'],
      [{ fallback_limit: 0 }, 'fallback_limit must be a whole number from 1 to 1000'],
      [{ fallback_limit: 1001 }, /^fallback_limit must/],
      [{ fallback_limit: -1 }, /^fallback_limit must/],
      [{ fallback_limit: 2.5 }, /^fallback_limit must/],
      [{ fallback_limit: '3' }, /^fallback_limit must/],
      [{ fallback_limit: null }, /^fallback_limit must/],
      [{ fallback_limit: true }, /^fallback_limit must/],
      [{ enabled: 'true' }, 'enabled must be true or false'],
      [{ enabled: 1 }, 'enabled must be true or false'],
      [{ enabled: null }, 'enabled must be true or false'],
      [{ enabled: true, fallback_limit: 0 }, /^fallback_limit must/],
      [{ enabled: 'yes', fallback_limit: 3 }, /^enabled must/],
      [{ enabled: true, unknown: 1 }, 'unknown field'],
      [{ limit: 3 }, 'unknown field'],
      [{ '<script>': 3 }, 'unknown field'],
      [[], 'the body must be a JSON object'],
      [null, 'the body must be a JSON object'],
      [5, 'the body must be a JSON object'],
      ['enabled', 'the body must be a JSON object'],
    ] as [unknown, string | RegExp][]
  ).map(([body, error]) => ({
    name: `400 and nothing is applied: ${JSON.stringify(body)}`,
    request: setHwid(body),
    status: 400,
    error,
  })),
  {
    name: '400 and nothing is applied: a key __proto__',
    request: { path: HWID, raw: '{"enabled":true,"__proto__":{"enabled":true}}' },
    status: 400,
    error: 'unknown field',
  },
])
