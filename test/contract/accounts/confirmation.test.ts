/** What a session of the panel may do only within ten minutes of password or code, and how it is confirmed. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { allOperations } from '#src/http/admin/operations.ts'
import type { ServedOperation } from '#src/http/operation.ts'
import {
  codeNow,
  codeStep,
  logIn,
  logInToPanel,
  pendingToken,
  turnTotpOn,
} from '#test/support/calls/admins.ts'
import { addHost, addNode, auditOf, nowOf } from '#test/support/rows/records.ts'
import { createWorld, PASSWORD, type World } from '#test/support/worlds/world.ts'

const MINUTE = 60_000
const REFUSED = { error: 'confirm it is you', code: 'reauth_required' }
let w: World
let cookie: string
beforeEach(async () => {
  w = await createWorld()
  cookie = (await logInToPanel(w)).session
  addNode(w, 'ex1')
  addNode(w, 'first', { kind: 'managed', status: 'pending', provisioning: 'first' })
  addNode(w, 'nl1', { kind: 'managed', private_key: 'k'.repeat(43) })
  addHost(w, 'ex1')
  // Set up, and waiting to be set up once more.
  const again = { status: 'failed', provisioning: 'again', last_seen_at: nowOf(w) }
  addNode(w, 'again', { kind: 'managed', private_key: 'k'.repeat(43), ...again })
  // Another node was set up on its server.
  addNode(w, 'taken', { kind: 'managed', private_key: 'k'.repeat(43), status: 'pending' })
})

afterEach(() => w.close())

const ask = (method: string, path: string, body?: unknown, as = cookie) =>
  w.call(`/admin/api${path}`, { method, cookie: as, ...(body === undefined ? {} : { body }) })

/** What needs it, with what each answers once it is let through. */
const GUARDED: [method: string, path: string, body: unknown, status: number][] = [
  ['HEAD', '/backup', undefined, 200],
  ['POST', '/backup', {}, 400],
  ['POST', '/backup/restore', undefined, 400],
  ['POST', '/admins', { username: 'second', password: 'eight888' }, 200],
  ['POST', '/payments/provider-a-settings', {}, 400],
  ['POST', '/payments/provider-b-settings', { merchant_id: 'm', secret: 's' }, 200],
  ['POST', '/payments/providers/cryptobot', { token: '' }, 400],
  ['POST', '/payments/providers/cryptobot/settings', { token: '' }, 400],
  ['POST', '/settings/bot', {}, 400],
  ['POST', '/settings/alerts', { admin_tg_ids: [7] }, 200],
  ['POST', '/settings/security', { require_2fa: false }, 200],
  ['POST', '/settings/backup', {}, 400],
  ['POST', '/settings/webhook', { url: '' }, 200],
  ['POST', '/settings/webhook', { events: [] }, 200],
  ['POST', '/settings/webhook/rotate-secret', undefined, 200],
  ['DELETE', '/admins/99', undefined, 404],
  ['POST', '/2fa/enable', { secret: '', code: '' }, 400],
  ['POST', '/settings/apps', { apps: null }, 200],
  ['POST', '/settings/templates', { format: 'mihomo', body: '' }, 200],
  ['POST', '/nodes', {}, 400],
  ['POST', '/nodes/provision-guide', { label: 'x', address: 'thief.test' }, 200],
  ['POST', '/settings/brand', { brand_name: 'x' }, 200],
  ['POST', '/settings/receipts', { mode: 'off' }, 200],
  ['POST', '/settings/lists', { ruleset_base_url: 'https://thief.test/rules' }, 200],
  ['POST', '/payments/legal-settings', { SUPPORT_CONTACT: '@x' }, 200],
  ['POST', '/nodes/first/provision', undefined, 200],
  ['PATCH', '/nodes/first', { address: 'thief.test' }, 200],
  ['POST', '/nodes/nl1/provision', undefined, 200],
  ['POST', '/nodes/again/provision', undefined, 200],
  ['POST', '/nodes/taken/provision', undefined, 200],
  ['POST', '/nodes/nl1/trust-host-key', { fingerprint: 'x' }, 400],
  ['POST', '/nodes/nl1/move', { to: 'ex1' }, 200],
  ['PATCH', '/nodes/nl1', { label: 'x', address: 'thief.test' }, 200],
  ['PATCH', '/nodes/again', { port: 444 }, 200],
  ['PATCH', '/nodes/taken', { address: 'thief.test' }, 200],
  ['PATCH', '/nodes/ex1', { public_key: 'Q'.repeat(43) }, 200],
  ['PATCH', '/nodes/ex1', { sni: 'thief.test' }, 200],
  ['POST', '/nodes/ex1/hosts', { transport: 'reality', address: 'thief.test' }, 200],
  ['PATCH', '/nodes/ex1/hosts/1', { label: 'x', address: 'thief.test' }, 200],
  ['PATCH', '/nodes/ex1/hosts/1', { sni: 'thief.test' }, 200],
]

test('every operation that is declared to need it is asked for here', () => {
  const isAsked = ({ method, path }: ServedOperation) => {
    const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)
    // A download is asked for by its head.
    const verb = method === 'get' ? 'HEAD' : method.toUpperCase()
    return GUARDED.some(([m, p]) => m === verb && pattern.test(`/admin/api${p}`))
  }
  const declared = allOperations(w.config).filter(({ confirmed }) => confirmed)
  expect(declared.length).toBeGreaterThan(15)
  expect(declared.filter((one) => !isAsked(one)).map(({ path }) => path)).toEqual([])
})

describe('a session that the login page made', () => {
  test.each(GUARDED)(
    '%s %s is open for ten minutes after the login',
    async (method, path, body, status) => {
      w.clock.advance(10 * MINUTE - 1000)
      expect((await ask(method, path, body)).status).toBe(status)
    },
  )

  test.each(GUARDED)(
    '%s %s is refused then, whatever headers it has, and changes nothing',
    async (method, path, body) => {
      w.clock.advance(10 * MINUTE)
      const token = path.endsWith('cryptobot') ? { token: 'a:b' } : body
      const before = w.dump('admin_sessions')
      const answer = await w.call(`/admin/api${path}`, {
        method,
        cookie,
        headers: { 'sec-fetch-site': 'none', 'x-requested-with': 'script', authorization: 'x' },
        ...(token === undefined ? {} : { body: token }),
      })
      expect(answer.status).toBe(403)
      if (method !== 'HEAD') expect(answer.json).toEqual(REFUSED)
      expect(w.dump('admin_sessions')).toBe(before)
    },
  )

  test('a download is refused with the code that the panel knows', async () => {
    w.clock.advance(10 * MINUTE)
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', { passphrase: 'a long enough passphrase' }],
    ] as const) {
      const answer = await ask(method, '/backup', body)
      expect([answer.status, answer.json]).toEqual([403, REFUSED])
    }
    expect(auditOf(w)).toEqual(['login'])
  })

  test('is refused nothing else', async () => {
    w.clock.advance(60 * MINUTE)
    for (const [method, path, body] of [
      ['GET', '/users'],
      ['GET', '/settings/alerts'],
      ['GET', '/payments/provider-a-settings'],
      ['POST', '/payments/providers/stars', { enabled: false }],
      ['POST', '/settings/lists', { routing_ads: true, ruleset_base_url: '' }],
      ['POST', '/2fa/setup', undefined],
      ['POST', '/2fa/disable', { password: PASSWORD }],
      ['PATCH', '/nodes/nl1', { label: 'x', address: 'nl1.nodes.test', port: 443, flow: '' }],
      ['PATCH', '/nodes/nl1', { enabled: false }],
      ['PATCH', '/nodes/ex1/hosts/1', { label: 'x', address: 'host.test' }],
      ['POST', '/nodes/ex1/hosts/order', { ids: [1] }],
      ['DELETE', '/nodes/ex1/hosts/1', undefined],
      ['PATCH', '/nodes/de1', { label: 'x', address: 'thief.test' }],
    ] as const) {
      expect((await ask(method, path, body)).status, path).toBe(200)
    }
  })

  test('an upload is refused before it is read', async () => {
    w.clock.advance(10 * MINUTE)
    let pulled = 0
    const raw = new ReadableStream({
      pull(stream) {
        pulled++
        stream.enqueue(new Uint8Array(65_536))
      },
    })
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const answer = await w.call('/admin/api/backup/restore', {
      method: 'POST',
      cookie,
      headers,
      raw,
    })
    expect([answer.status, answer.json]).toEqual([403, REFUSED])
    expect(pulled).toBeLessThan(3)
  })

  test('that a code completed is one too', async () => {
    turnTotpOn(w)
    const body = { pending_token: await pendingToken(w), code: codeNow(w), panel: true }
    const answer = await w.call('/admin/api/login/totp', { body })
    const own = answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    expect((await ask('HEAD', '/backup', undefined, own)).status).toBe(200)
    w.clock.advance(10 * MINUTE)
    expect((await ask('HEAD', '/backup', undefined, own)).status).toBe(403)
  })
})

test('any other session is asked for nothing', async () => {
  const own = await logIn(w)
  turnTotpOn(w)
  const other = /^panel_admin=[^;]+/.exec(
    (await codeStep(w, await pendingToken(w), codeNow(w))).headers.get('set-cookie') ?? '',
  )?.[0]
  w.clock.advance(60 * MINUTE)
  for (const one of [own, other])
    expect((await ask('HEAD', '/backup', undefined, one)).status).toBe(200)
})

test('REAUTH=off asks nobody', async () => {
  w.close()
  w = await createWorld({ environment: { REAUTH: 'off' } })
  cookie = (await logInToPanel(w)).session
  w.clock.advance(60 * MINUTE)
  expect((await ask('HEAD', '/backup')).status).toBe(200)
})
