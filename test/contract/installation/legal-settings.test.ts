import { expect } from 'vitest'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'

const PATH = '/admin/api/payments/legal-settings'
const set = (body: unknown) => ({ path: PATH, body })
const EMPTY = {
  LEGAL_NAME: '',
  LEGAL_INN: '',
  REFUND_HOURS: '',
  SUPPORT_CONTACT: '',
  SUPPORT_EMAIL: '',
  OFFER_EFFECTIVE_DATE: '',
}
const DATE = 'OFFER_EFFECTIVE_DATE'

scenarios('legal-settings', [
  { name: '200 with nothing set', request: { path: PATH }, status: 200, body: EMPTY },
  {
    name: '200 with the values of the environment',
    world: { environment: { LEGAL_NAME: 'Env', [DATE]: '31.12.2025' } },
    request: { path: PATH },
    status: 200,
    body: { ...EMPTY, LEGAL_NAME: 'Env', [DATE]: '31.12.2025' },
  },
  {
    name: '200, trimmed, with the date of today the first time and never another',
    request: set({ LEGAL_NAME: '  ИП Иванов\n', LEGAL_INN: '0123456789', other: [] }),
    status: 200,
    body: {
      ok: true,
      settings: {
        ...EMPTY,
        LEGAL_NAME: 'ИП Иванов',
        LEGAL_INN: '0123456789',
        [DATE]: '01.03.2026',
      },
    },
    effects: async (w) => {
      w.clock.advance(40 * 86_400_000)
      const next = await w.admin(PATH, {
        body: { REFUND_HOURS: '24', SUPPORT_CONTACT: '@help', SUPPORT_EMAIL: 'a@b.test' },
      })
      const all = {
        LEGAL_NAME: 'ИП Иванов',
        LEGAL_INN: '0123456789',
        REFUND_HOURS: '24',
        SUPPORT_CONTACT: '@help',
        SUPPORT_EMAIL: 'a@b.test',
        [DATE]: '01.03.2026',
      }
      expect(next.json).toEqual({ ok: true, settings: all })
      expect((await w.admin(PATH)).json).toEqual(all)
      expect(w.rows('select object from audit_log order by id').map((row) => row.object)).toEqual([
        `LEGAL_NAME LEGAL_INN ${DATE}`,
        'REFUND_HOURS SUPPORT_CONTACT SUPPORT_EMAIL',
      ])
    },
  },
  ...(
    [
      ['Europe/Moscow', '2026-03-01T20:59:59', '01.03.2026'],
      ['Europe/Moscow', '2026-03-01T21:00:00', '02.03.2026'],
      ['America/New_York', '2026-03-01T04:59:59', '28.02.2026'],
    ] as const
  ).map(
    ([zone, now, day]): Scenario => ({
      name: `200 with ${day} at ${now} UTC in ${zone}`,
      world: { now, environment: { TIMEZONE: zone } },
      request: set({ LEGAL_NAME: 'x' }),
      status: 200,
      effects: (_w, _given, { json }) => expect(json.settings[DATE]).toBe(day),
    }),
  ),
  {
    name: '200 and the date of the environment counts as set',
    world: { environment: { [DATE]: '31.12.2025' } },
    request: set({ LEGAL_NAME: 'x' }),
    status: 200,
    effects: (w, _given, { json }) => {
      expect(json.settings[DATE]).toBe('31.12.2025')
      expect(w.rows('select key from settings where key = ?', DATE)).toEqual([])
    },
  },
  {
    name: '200 and an emptied value wins over the environment',
    world: { environment: { LEGAL_NAME: 'Env' } },
    request: set({ LEGAL_NAME: '  ' }),
    status: 200,
    effects: (_w, _given, { json }) => expect(json.settings.LEGAL_NAME).toBe(''),
  },
  {
    name: '200 for 500 characters',
    request: set({ SUPPORT_CONTACT: ` ${'я'.repeat(500)} ` }),
    status: 200,
  },
  ...(
    [
      [{}, 'nothing to change'],
      [{ [DATE]: '01.01.2020' }, 'nothing to change'],
      [{ name: 'x' }, 'nothing to change'],
      [{ LEGAL_NAME: 5 }, 'LEGAL_NAME must be a string'],
      [{ LEGAL_INN: 123456789 }, 'LEGAL_INN must be a string'],
      [{ REFUND_HOURS: null }, 'REFUND_HOURS must be a string'],
      [{ SUPPORT_CONTACT: ['x'] }, 'SUPPORT_CONTACT must be a string'],
      [{ SUPPORT_EMAIL: {} }, 'SUPPORT_EMAIL must be a string'],
      [{ LEGAL_NAME: 'fine', LEGAL_INN: false }, 'LEGAL_INN must be a string'],
      [{ LEGAL_NAME: 'x'.repeat(501) }, 'LEGAL_NAME must have at most 500 characters'],
      [{ LEGAL_NAME: 'x\nPANEL_PASSWORD=y' }, /^LEGAL_NAME must be one line/],
      [{ LEGAL_NAME: 'x\u0000y' }, /^LEGAL_NAME must be one line/],
      [{ LEGAL_NAME: 'x\u0085y' }, /^LEGAL_NAME must be one line/],
    ] as [unknown, string | RegExp][]
  ).map(
    ([body, error]): Scenario => ({
      name: `400 and nothing is applied: ${JSON.stringify(body).slice(0, 60)}`,
      request: set(body),
      status: 400,
      error,
    }),
  ),
  { name: '400 for a malformed body', request: { path: PATH, raw: '[' }, status: 400 },
])
