/** The table of operations: what it says of who may ask, and the routes that come of it. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import type { Principal } from '#src/domain/accounts/principals.ts'
import { allOperations } from '#src/http/admin/operations.ts'
import type { AppEnv, Http } from '#src/http/context.ts'
import { operation, routesOf, type ServedOperation } from '#src/http/operation.ts'
import { listOperations } from '#src/http/operations.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { settingsTable } from '#src/settings/table.ts'

const config = { adminPath: 'secret', gateways: GATEWAYS, settings: settingsTable(GATEWAYS) }
const table = allOperations(config)
const named = ({ method, path }: ServedOperation) => `${method} ${path}`

test('each operation of the admin API is open or says what one must be allowed for it', () => {
  expect(table.length).toBeGreaterThan(80)
  expect(table.filter(({ open, scope }) => Boolean(open) === Boolean(scope)).map(named)).toEqual([])
})

test('what is only to be read is a GET, and each GET but an own matter', () => {
  const wrong = table.filter(({ method, scope = 'any' }) =>
    method === 'get' ? scope.endsWith(':write') : scope.endsWith(':read'),
  )
  expect(wrong.map(named)).toEqual([])
})

const all = listOperations(config)

test('no operation is declared twice', () => {
  expect(new Set(all.map(named)).size).toBe(all.length)
})

test('what anybody may ask has no token in its path, and what a token opens has one', () => {
  const open = all.filter(({ open }) => open)
  expect(open.length).toBeGreaterThan(25)
  const wrong = open.filter(
    ({ open, path }) => (open === 'token in path') !== path.includes('{token}'),
  )
  expect(wrong.map(named)).toEqual([])
  expect(open.filter(({ path }) => path.startsWith('/payments/webhook/')).map(named)).toEqual(
    open.filter(({ open }) => open === 'gateway').map(named),
  )
})

test('logs and metrics learn nothing of where the panel is', () => {
  const ours = all.filter(({ path }) => path.startsWith('/secret'))
  expect(ours.map(({ label }) => label)).toEqual([
    '/{ADMIN_PATH}',
    '/{ADMIN_PATH}',
    '/{ADMIN_PATH}/assets/{name}',
  ])
  expect(all.filter(({ label }) => label !== undefined)).toEqual(ours)
})

describe('routes of operations', () => {
  const s = {
    marker: 'services',
    clientIp: () => '192.0.2.1',
    // SQLite's is the same for everybody.
    db: { onBehalfOf: () => s.db },
  } as unknown as Http
  const declared = [
    operation(
      {
        method: 'get',
        path: '/things/{thing}',
        summary: 'x',
        open: 'public',
        params: { thing: v.string() },
        ok: v.string(),
      },
      ({ params }) => params.thing,
    ),
    operation(
      { method: 'get', path: '/things/all', summary: 'x', open: 'public', ok: v.string() },
      ({ s }) => (s as unknown as { marker: string }).marker,
    ),
    operation(
      {
        method: 'post',
        path: '/{kind}/{thing}/look',
        summary: 'x',
        open: 'public',
        ok: v.string(),
      },
      () => new Response('a file', { status: 201 }),
    ),
    operation(
      {
        method: 'get',
        path: '/scripts/{name}.sh',
        summary: 'x',
        open: 'public',
        params: { name: v.string() },
        ok: v.string(),
      },
      ({ params }) => params.name,
    ),
  ]
  const served = declared.map((one) => ({ ...one, tag: 'Data' as const }))

  test.each([
    ['in their order', served],
    ['turned round', served.toReversed()],
  ])('%s take fixed parts of a path before named ones', async (_name, list) => {
    const app = routesOf(s, list)
    expect(await (await app.request('/things/all')).json()).toBe('services')
    expect(await (await app.request('/things/a%20b')).json()).toBe('a b')
  })

  test('give a named part without the ending that it has to have', async () => {
    const app = routesOf(s, served)
    expect(await (await app.request('/scripts/a.sh.sh')).json()).toBe('a.sh')
    expect((await app.request('/scripts/a.py')).status).toBe(404)
    expect((await app.request('/scripts/.sh')).status).toBe(404)
  })

  test('pass on an answer of the handler as it is', async () => {
    const answer = await routesOf(s, served).request('/a/b/look', { method: 'POST' })
    expect([answer.status, await answer.text()]).toEqual([201, 'a file'])
  })

  test('ask who is behind a request before they look at it', async () => {
    const handled: string[] = []
    const guarded = operation(
      { method: 'get', path: '/secrets', summary: 'x', scope: 'backup:read', ok: v.string() },
      ({ principal }) => {
        handled.push(principal.kind)
        return 'secret'
      },
    )
    const own = { adminId: 1, actor: { admin: 'a', ip: '' }, unconfirmed: false }
    const asked = async (principal: object) => {
      const app = new Hono<AppEnv>()
      app.use(async (c, next) => {
        c.set('principal', { ...own, ...principal } as Principal)
        await next()
      })
      app.route('/', routesOf(s, [{ ...guarded, tag: 'Data' }]))
      app.onError((error, c) => c.text(error.message, 403))
      return (await app.request('/secrets')).text()
    }
    expect(await asked({ kind: 'session', role: 'owner', sessionId: 1 })).toBe('"secret"')
    expect(await asked({ kind: 'token', role: 'owner' })).toBe('not for tokens')
    expect(await asked({ kind: 'session', role: 'unheard of', sessionId: 1 })).toBe(
      'not allowed for your role',
    )
    expect(handled).toEqual(['session'])
  })
})
