import { expect } from 'vitest'
import { addNode, eventsOf, putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const GIFTS = '/admin/api/gift-codes'
const ORDER = { node: 'de1', plan: '1m' }
const CODE = /^[A-Z2-7]{16}$/
const create = (body: unknown): Scenario['request'] => ({ path: GIFTS, body })
const named = (w: World, username = 'shop_bot') => putSettings(w, { BOT_USERNAME: username })
const linkOf = (code: string) => `https://t.me/shop_bot?start=gift_${code}`

scenarios('POST /admin/api/gift-codes', [
  {
    name: '200 with code and link; the row is of the panel, unused and without an end',
    given: (w) => named(w),
    request: create(ORDER),
    status: 200,
    effects: (w, _given, { json }) => {
      expect(json).toEqual({ code: expect.stringMatching(CODE), link: linkOf(json.code) })
      expect(w.rows('select * from gift_codes')).toEqual([
        {
          seq: 1,
          node_group: null,
          quota_bytes: null,
          quota_period: 'none',
          start_seconds: null,
          start_by: null,
          ...ORDER,
          code: json.code,
          created_by: 0,
          created_at: '2026-03-01T12:00:00',
          expires_at: null,
          used_at: null,
          used_by: null,
          revoked_at: null,
        },
      ])
      const [entry] = w.rows('select action, object, detail from audit_log')
      expect(entry).toEqual({
        action: 'gift.create',
        object: `${json.code.slice(0, 4)}…`,
        detail: 'node=de1 plan=1m count=1',
      })
      expect(eventsOf(w)).toEqual([])
    },
  },
  {
    name: '200 with an array where a count is given',
    given: (w) => named(w),
    request: create({ ...ORDER, count: 3 }),
    status: 200,
    effects: (w, _given, { json }) => {
      expect(json).toHaveLength(3)
      for (const { code, link } of json)
        expect([code, link]).toEqual([expect.stringMatching(CODE), linkOf(code)])
      expect(w.rows('select distinct code from gift_codes')).toHaveLength(3)
      expect(w.rows('select detail from audit_log')).toEqual([
        { detail: 'node=de1 plan=1m count=3' },
      ])
    },
  },
  {
    name: '200 with an array of one for a count of 1',
    request: create({ ...ORDER, count: 1 }),
    status: 200,
    effects: (_w, _given, { json }) => expect(json).toHaveLength(1),
  },
  {
    name: '200 for a thousand, all different',
    request: create({ ...ORDER, count: 1000 }),
    status: 200,
    effects: (_w, _given, { json }) =>
      expect(new Set(json.map(({ code }: { code: string }) => code)).size).toBe(1000),
  },
  {
    name: '200 with an end after so many days',
    request: create({ ...ORDER, expires_in_days: 2 }),
    status: 200,
    effects: (w) =>
      expect(w.rows('select expires_at from gift_codes')).toEqual([
        { expires_at: '2026-03-03T12:00:00' },
      ]),
  },
  {
    name: '200 for a disabled and for a pending node',
    given: (w) => addNode(w, 'off', { enabled: 0, status: 'pending' }),
    request: create({ node: 'off', plan: '1m', expires_in_days: null }),
    status: 200,
  },
  {
    name: '200 without a link while no bot is set',
    request: create(ORDER),
    status: 200,
    effects: async (w, _given, { json }) => {
      expect(json.link).toBeNull()
      named(w)
      expect((await w.admin(GIFTS)).json[0].link).toBe(linkOf(json.code))
    },
  },
  {
    name: '200 with the link base of the environment',
    world: { environment: { BOT_LINK_BASE: 'https://telegram.me/', BOT_USERNAME: 'env_bot' } },
    request: create(ORDER),
    status: 200,
    effects: (_w, _given, { json }) =>
      expect(json.link).toBe(`https://telegram.me/env_bot?start=gift_${json.code}`),
  },
  ...(
    [
      [{ node: 'gone', plan: '1m' }, 'unknown node'],
      [{ node: 'de1', plan: 'gone' }, 'unknown plan'],
      [{ node: 'DE1', plan: '1m' }, 'unknown node'],
      [{ node: 'de1', plan: '12m' }, 'plan is archived'],
      [{ plan: '1m' }, 'node is missing or of the wrong type'],
      [{ node: 'de1' }, 'plan is missing or of the wrong type'],
      [{ node: 1, plan: '1m' }, 'node must be a string'],
      [{ ...ORDER, count: 0 }, 'count must be a whole number from 1 to 1000'],
      [{ ...ORDER, count: 1001 }, 'count must be a whole number from 1 to 1000'],
      [{ ...ORDER, count: '2' }, 'count must be a whole number from 1 to 1000'],
      [{ ...ORDER, count: null }, 'count must be a whole number from 1 to 1000'],
      [{ ...ORDER, expires_in_days: 0 }, 'expires_in_days must be a whole number from 1 to 3650'],
      [{ ...ORDER, expires_in_days: 1.5 }, 'expires_in_days must be a whole number from 1 to 3650'],
      [
        { ...ORDER, expires_in_days: 3651 },
        'expires_in_days must be a whole number from 1 to 3650',
      ],
      [[], 'the body must be a JSON object'],
    ] as const
  ).map(([body, error]) => ({
    name: `400 ${error} for ${JSON.stringify(body)}`,
    given: (w: World) => w.change("update plans set archived = 1 where code = '12m'"),
    request: create(body),
    status: 400,
    error,
  })),
  {
    name: '400 for no JSON',
    request: { path: GIFTS, raw: '{' },
    status: 400,
    error: 'invalid JSON',
  },
])
