/** The table of operations: what it says of who may ask, and the routes that come of it. */
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { allOperations } from '#src/http/admin/operations.ts'
import type { Http } from '#src/http/context.ts'
import { operation, routesOf, type ServedOperation } from '#src/http/operation.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'

const table = allOperations(GATEWAYS)
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

test('no operation is declared twice', () => {
  expect(new Set(table.map(named)).size).toBe(table.length)
})

describe('routes of operations', () => {
  const s = { marker: 'services' } as unknown as Http
  const declared = [
    operation(
      {
        method: 'get',
        path: '/things/{thing}',
        summary: 'x',
        open: true,
        params: { thing: v.string() },
        ok: v.string(),
      },
      ({ params }) => params.thing,
    ),
    operation(
      { method: 'get', path: '/things/all', summary: 'x', open: true, ok: v.string() },
      ({ s }) => (s as unknown as { marker: string }).marker,
    ),
    operation(
      { method: 'post', path: '/{kind}/{thing}/look', summary: 'x', open: true, ok: v.string() },
      () => new Response('a file', { status: 201 }),
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

  test('pass on an answer of the handler as it is', async () => {
    const answer = await routesOf(s, served).request('/a/b/look', { method: 'POST' })
    expect([answer.status, await answer.text()]).toEqual([201, 'a file'])
  })
})
