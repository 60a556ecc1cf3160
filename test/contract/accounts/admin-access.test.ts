import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Http } from '#src/http/context.ts'
import { adminApi } from '#src/http/panel.ts'
import type { Services } from '#src/services.ts'
import { addUser } from '#test/support/rows/records.ts'
import { expectDecent } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})

afterEach(() => w.close())

const UUID = '00000000-0000-4000-8000-000000000001'

/** Every admin route, and some that do not exist. */
const ROUTES: [method: string, path: string][] = [
  ['GET', '/settings/sales'],
  ['POST', '/settings/sales'],
  ['GET', '/settings/lists'],
  ['POST', '/settings/lists'],
  ['GET', '/settings/templates'],
  ['POST', '/settings/templates'],
  ['POST', '/settings/templates/preview'],
  ['GET', '/users/7/list'],
  ['GET', '/nodes'],
  ['POST', '/nodes'],
  ['GET', '/nodes/live'],
  ['GET', '/nodes/de1/live'],
  ['GET', '/live'],
  ['POST', '/nodes/reorder'],
  ['POST', '/nodes/provision-guide'],
  ['POST', '/nodes/de1/provision'],
  ['PATCH', '/nodes/de1'],
  ['DELETE', '/nodes/de1'],
  ['GET', '/nodes/retired'],
  ['POST', '/nodes/de1/move'],
  ['POST', '/nodes/de1/check'],
  ['POST', '/nodes/de1/trust-host-key'],
  ['GET', '/nodes/de1/metrics'],
  ['GET', '/nodes/de1/traffic'],
  ['GET', '/nodes/de1/status'],
  ['GET', '/users'],
  ['POST', '/users'],
  ['POST', '/users/bulk'],
  ['PATCH', '/users/1'],
  ['DELETE', '/users/1'],
  ['POST', '/users/1/rotate-token'],
  ['GET', '/users/1'],
  ['POST', '/users/1/grant'],
  ['GET', '/users/1/devices'],
  ['DELETE', '/users/1/devices/1'],
  ['POST', '/users/1/hwid-limit'],
  ['GET', '/hwid-settings'],
  ['POST', '/hwid-settings'],
  ['GET', '/settings/bot'],
  ['POST', '/settings/bot'],
  ['GET', '/settings/brand'],
  ['POST', '/settings/brand'],
  ['GET', '/settings/apps'],
  ['POST', '/settings/apps'],
  ['GET', '/settings/backup'],
  ['POST', '/settings/backup'],
  ['POST', '/backup'],
  ['GET', '/settings/webhook'],
  ['POST', '/settings/webhook'],
  ['POST', '/settings/webhook/rotate-secret'],
  ['GET', '/settings/alerts'],
  ['POST', '/settings/alerts'],
  ['GET', '/settings/security'],
  ['POST', '/settings/security'],
  ['GET', '/settings/receipts'],
  ['POST', '/settings/receipts'],
  ['GET', '/payments'],
  ['POST', '/payments'],
  ['GET', '/payments/orphans'],
  ['POST', '/payments/orphans/1/resolve'],
  ['POST', `/payments/${UUID}/check`],
  ['POST', `/payments/${UUID}/grant`],
  ['POST', `/payments/${UUID}/refunded`],
  ['GET', '/payments/legal-settings'],
  ['POST', '/payments/legal-settings'],
  ['GET', '/payments/plan-settings'],
  ['POST', '/payments/plan-settings'],
  ['GET', '/payments/provider-a-settings'],
  ['POST', '/payments/provider-a-settings'],
  ['GET', '/payments/provider-b-settings'],
  ['POST', '/payments/provider-b-settings'],
  ['GET', '/payments/providers'],
  ['POST', '/payments/providers/stars'],
  ['GET', '/payments/providers/stars/settings'],
  ['POST', '/payments/providers/stars/settings'],
  ['GET', '/subscriptions'],
  ['PATCH', `/subscriptions/${UUID}`],
  ['POST', `/subscriptions/${UUID}/extend`],
  ['POST', `/subscriptions/${UUID}/change`],
  ['POST', `/subscriptions/${UUID}/hold`],
  ['POST', `/subscriptions/${UUID}/resume`],
  ['POST', `/subscriptions/${UUID}/disable`],
  ['POST', `/subscriptions/${UUID}/enable`],
  ['POST', `/subscriptions/${UUID}/revoke`],
  ['POST', `/subscriptions/${UUID}/reset-traffic`],
  ['GET', '/admins'],
  ['POST', '/admins'],
  ['DELETE', '/admins/2'],
  ['POST', '/password'],
  ['GET', '/sessions'],
  ['DELETE', '/sessions'],
  ['DELETE', '/sessions/1'],
  ['GET', '/account'],
  ['POST', '/reauth'],
  ['GET', '/2fa/status'],
  ['GET', '/2fa/recovery-codes'],
  ['POST', '/2fa/recovery-codes'],
  ['POST', '/2fa/setup'],
  ['POST', '/2fa/enable'],
  ['POST', '/2fa/disable'],
  ['GET', '/traffic'],
  ['GET', '/nodes/de1/hosts'],
  ['POST', '/nodes/de1/hosts'],
  ['POST', '/nodes/de1/hosts/order'],
  ['PATCH', '/nodes/de1/hosts/1'],
  ['DELETE', '/nodes/de1/hosts/1'],
  ['GET', '/node-groups'],
  ['POST', '/node-groups'],
  ['GET', '/node-groups/all'],
  ['PATCH', '/node-groups/all'],
  ['DELETE', '/node-groups/all'],
  ['GET', '/plans'],
  ['POST', '/plans'],
  ['POST', '/plans/reorder'],
  ['PATCH', '/plans/1m'],
  ['DELETE', '/plans/1m'],
  ['GET', '/traffic-packs'],
  ['POST', '/traffic-packs'],
  ['POST', '/traffic-packs/reorder'],
  ['PATCH', '/traffic-packs/50gb'],
  ['DELETE', '/traffic-packs/50gb'],
  ['GET', '/gift-codes'],
  ['POST', '/gift-codes'],
  ['DELETE', '/gift-codes/ABCDEFGHIJKLMNOP'],
  ['GET', '/stats'],
  ['GET', '/stats/series'],
  ['GET', '/stats/active'],
  ['POST', '/sync'],
  ['GET', '/audit'],
  ['GET', '/openapi.json'],
  ['POST', '/qr'],
  ['GET', '/events'],
  ['POST', `/events/${UUID}/resend`],
  ['POST', '/settings/webhook/test'],
  ['GET', '/backup'],
  ['POST', '/backup/restore'],
  ['GET', ''],
  ['GET', '/'],
  ['GET', '/nowhere'],
  ['POST', '/nowhere/at/all'],
  ['GET', '/users/not-a-number'],
  ['GET', '/login/x'],
  ['GET', '/me/x'],
  ['POST', '/logout/x'],
]

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']

/** A body that must not be read; tells whether it was. */
function untouchable() {
  let reads = 0
  const stream = new ReadableStream(
    {
      pull(controller) {
        reads++
        controller.enqueue(new Uint8Array(1024))
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, reads: () => reads }
}

const COOKIES = [undefined, 'panel_admin=', 'panel_admin=made-up', 'other=x']

async function expectUnauthorized(method: string, path: string, cookie: string | undefined) {
  const body = untouchable()
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const answer = await w.call(path, {
    method,
    ...(cookie === undefined ? {} : { cookie }),
    ...(hasBody ? { raw: body.stream } : {}),
  })
  const what = `${method} ${path} ${cookie}`
  expect(answer.status, what).toBe(401)
  expect(answer.json, what).toEqual(method === 'HEAD' ? undefined : { error: 'unauthorized' })
  expect(body.reads(), what).toBe(0)
  expectDecent(path, answer)
}

describe('without a session', () => {
  test.each(ROUTES)('401 for %s %s before the body is read', async (own, path) => {
    addUser(w, 1)
    const before = w.dump()
    for (const method of new Set([own, ...METHODS])) {
      for (const cookie of COOKIES) await expectUnauthorized(method, `/admin/api${path}`, cookie)
    }
    expect(w.dump()).toBe(before)
    expect(w.node.calls).toEqual([])
  })

  test('401 by whatever way the path is written', async () => {
    const ways = [
      '//admin/api/nodes',
      '/admin/api//nodes',
      '/admin/api/%6eodes',
      '/admin//api/nodes',
    ]
    ways.push(
      '/ADMIN/API/nodes',
      '/x/../admin/api/nodes',
      '/admin/api/nodes/',
      '/admin/api/./nodes',
    )
    ways.push('/admin/api/nodes?x=1', '/admin%2fapi%2fnodes', '/admin\\api\\nodes')
    for (const way of ways) {
      const { status } = await w.call(way)
      expect([401, 404], way).toContain(status)
    }
  })

  test('every admin route of the service is in this list', () => {
    const open = ['POST /login', 'POST /login/totp', 'POST /logout', 'GET /me']
    const routes = adminApi(w.s as Services as Http).routes.map(({ method, path }) => ({
      method,
      path: path.replace('/admin/api', ''),
    }))
    expect(routes.length).toBeGreaterThan(20)
    const missing = routes
      .filter(({ method, path }) => method !== 'ALL' && !open.includes(`${method} ${path}`))
      .filter(({ method, path }) => {
        const pattern = new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`)
        return !ROUTES.some(([own, example]) => own === method && pattern.test(example))
      })
    expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  })
})
