import { expect } from 'vitest'
import {
  addAdmin,
  codeNow,
  isAlive,
  logIn,
  pendingToken,
  SECRET,
  turnTotpOn,
  wrongCode,
} from '#test/support/calls/admins.ts'
import { post } from '#test/support/calls/two-factor-calls.ts'
import { auditOf, putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const stored = (w: World) =>
  w.rows('select totp_secret as secret from admins where id = 1')[0].secret

const STATUS = { path: '/admin/api/2fa/status' }

scenarios('GET /admin/api/2fa/status', [
  { name: '200 and off', request: STATUS, status: 200, body: { enabled: false } },
  {
    name: '200 and on',
    given: (w) => turnTotpOn(w),
    request: STATUS,
    status: 200,
    body: { enabled: true },
  },
  {
    name: '200 and off while another admin has it on',
    given: (w) => turnTotpOn(w, addAdmin(w, 'second')),
    request: STATUS,
    status: 200,
    body: { enabled: false },
  },
])

scenarios('POST /admin/api/2fa/setup', [
  {
    name: '200 with a secret and its URI, and nothing is stored',
    request: post('setup'),
    status: 200,
    effects: async (w, _given, { json }) => {
      const { secret } = json
      expect(secret).toMatch(/^[A-Z2-7]{32}$/)
      expect(json).toEqual({
        secret,
        uri: `otpauth://totp/Subpanel:admin?secret=${secret}&issuer=Subpanel&algorithm=SHA1&digits=6&period=30`,
      })
      expect(w.dump()).not.toContain(secret)
      expect(stored(w)).toBeNull()
      expect((await w.admin('/admin/api/2fa/setup', { method: 'POST' })).json.secret).not.toBe(
        secret,
      )
    },
  },
  {
    name: '200 with the brand and the name as apps read them, without +',
    given: (w) => {
      putSettings(w, { BRAND_NAME: 'My Fast: VPN + more' })
      w.change("update admins set username = 'Анна Ли'")
    },
    request: post('setup', {}),
    status: 200,
    effects: (_w, _given, { json }) => {
      const name = 'My%20Fast%20VPN%20%2B%20more'
      const account = '%D0%90%D0%BD%D0%BD%D0%B0%20%D0%9B%D0%B8'
      expect(json.uri).toBe(
        `otpauth://totp/${name}:${account}?secret=${json.secret}&issuer=${name}&algorithm=SHA1&digits=6&period=30`,
      )
    },
  },
  {
    name: '200 with another secret while it is on, never the stored one',
    given: (w) => turnTotpOn(w),
    request: post('setup'),
    status: 200,
    effects: (w, _given, { text }) => {
      expect(text).not.toContain(SECRET)
      expect(stored(w)).toBe(SECRET)
    },
  },
])

const enable = (w: World, more: object = {}) =>
  post('enable', { secret: SECRET, code: codeNow(w), ...more })

const refused = (
  what: string,
  body: (w: World) => unknown,
  error: string | RegExp,
  given: (w: World) => unknown = () => undefined,
): Scenario => ({
  name: `400 for ${what}`,
  given,
  request: (_given, w) => post('enable', body(w)),
  status: 400,
  error,
  effects: (_w, _given, { text }) => expect(text).not.toMatch(/JBSW|\d{6}/),
})

scenarios('POST /admin/api/2fa/enable', [
  {
    name: '200, the next login asks for a code, other sessions end, the own one stays',
    given: async (w) => {
      addAdmin(w, 'second')
      return { other: await logIn(w), foreign: await logIn(w, 'second'), own: await logIn(w) }
    },
    request: ({ own }, w) => ({ ...enable(w), cookie: own }),
    status: 200,
    headers: { 'set-cookie': null },
    body: { ok: true },
    effects: async (w, { own, other, foreign }) => {
      expect(stored(w)).toBe(SECRET)
      expect(await isAlive(w, own)).toBe(true)
      expect(await isAlive(w, foreign)).toBe(true)
      expect(await isAlive(w, other)).toBe(false)
      expect(auditOf(w).at(-1)).toBe('2fa.enable')
      expect(
        w
          .rows('select * from audit_log')
          .map((row) => JSON.stringify(row))
          .join(),
      ).not.toContain(SECRET)
      expect(await pendingToken(w)).toMatch(/^[\w-]{43}$/)
    },
  },
  ...[-1, 1].map((steps) => ({
    name: `200 for the code ${steps} step away`,
    request: (_given: unknown, w: World) => enable(w, { code: codeNow(w, steps) }),
    status: 200,
    body: { ok: true },
  })),
  {
    name: '200 for a secret and a code as people copy them',
    request: (_given, w) => {
      const code = codeNow(w)
      return enable(w, {
        secret: SECRET.toLowerCase().replace(/(.{4})/g, '$1 '),
        code: `${code.slice(0, 3)} ${code.slice(3)}`,
      })
    },
    status: 200,
    effects: (w) => expect(stored(w)).toBe(SECRET),
  },
  refused('a wrong code', (w) => ({ secret: SECRET, code: wrongCode(w) }), 'wrong code'),
  refused(
    'the code two steps ago',
    (w) => ({ secret: SECRET, code: codeNow(w, -2) }),
    'wrong code',
  ),
  refused('an empty code', () => ({ secret: SECRET, code: '' }), 'wrong code'),
  refused('an empty secret', (w) => ({ secret: '', code: codeNow(w) }), 'secret must not be empty'),
  refused(
    'a secret of spaces',
    (w) => ({ secret: '  ', code: codeNow(w) }),
    'secret must not be empty',
  ),
  refused(
    'a secret that is none',
    (w) => ({ secret: '0189!', code: codeNow(w) }),
    /^secret must be 16 to 128 base32/,
  ),
  refused(
    'a secret of 75 bits',
    (w) => ({ secret: SECRET.slice(0, 15), code: codeNow(w) }),
    /^secret must be/,
  ),
  refused('no secret', (w) => ({ code: codeNow(w) }), /^secret /),
  refused('no code', () => ({ secret: SECRET }), /^code /),
  refused(
    'a code that is a number',
    (w) => ({ secret: SECRET, code: Number(codeNow(w)) }),
    /^code /,
  ),
  refused('a list for a secret', (w) => ({ secret: [SECRET], code: codeNow(w) }), /^secret /),
  refused(
    'it being on already',
    (w) => ({ secret: SECRET, code: codeNow(w) }),
    'two-factor login is already on',
    (w) => w.change("update admins set totp_secret = 'GEZDGNBVGY3TQOJQ'"),
  ),
  {
    name: '400 for a body that is no JSON',
    request: { path: '/admin/api/2fa/enable', raw: 'secret' },
    status: 400,
    error: 'invalid JSON',
  },
])
