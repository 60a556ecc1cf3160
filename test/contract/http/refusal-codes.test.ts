/** By which code a refusal goes, beside its sentence. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '#test/support/worlds/answer.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
beforeAll(async () => {
  w = await createWorld()
})
afterAll(() => w.close())

const said = ({ status, headers }: Answer) => [
  status,
  headers.get('x-error-code'),
  headers.get('x-error-values') &&
    Object.fromEntries(new URLSearchParams(headers.get('x-error-values') as string)),
]

describe('a refusal has its code', () => {
  test.each<[string, string, object | undefined, unknown[]]>([
    ['of a rule', '/users/7/grant', { node: 'none', plan: '1m' }, [400, 'unknown-node', null]],
    ['of what is unknown', '/users/7', undefined, [404, 'user-not-found', null]],
    ['of an unknown path', '/none', undefined, [404, 'not-found', null]],
    ['of a body that is none', '/users/7/grant', [], [400, 'not-an-object', null]],
    ['of a missing field', '/users/7/grant', { node: 'de1' }, [400, 'missing', { field: 'plan' }]],
    [
      'of a field, with what its sentence holds',
      '/nodes',
      { code: 'n', label: 'N', address: 'n.test', port: 70_000 },
      [400, 'not-in-range', { field: 'port', least: '1', most: '65535' }],
    ],
    [
      'of a part of a field',
      '/settings/alerts',
      { admin_tg_ids: [1, 'x'] },
      [400, 'not-in-range', { field: 'admin_tg_ids.1', least: '1', most: '9007199254740991' }],
    ],
    ['of a path', '/users/0', undefined, [400, 'not-positive', { field: 'tg_id' }]],
  ])('%s', async (_name, path, body, expected) => {
    const answer = await w.admin(`/admin/api${path}`, body === undefined ? {} : { body })
    expect(said(answer)).toEqual(expected)
    expect(Object.keys(answer.json)).toEqual(['error'])
  })

  test('without a session, by another method, and from another site', async () => {
    expect(said(await w.call('/admin/api/nodes'))).toEqual([401, 'unauthorized', null])
    expect(said(await w.call('/healthz', { method: 'POST' }))).toEqual([
      405,
      'method-not-allowed',
      null,
    ])
    const headers = { 'sec-fetch-site': 'cross-site' }
    expect(said(await w.admin('/admin/api/sync', { method: 'POST', headers }))).toEqual([
      403,
      'cross-site-request',
      null,
    ])
  })

  test('where it is a page for people, and for a client app', async () => {
    const page = await w.call('/sub/unknown', { headers: { accept: 'text/html' } })
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(said(page)).toEqual([404, 'not-found', null])
    expect(said(await w.call('/sub/unknown', { headers: { 'user-agent': 'v2rayNG/1' } }))).toEqual([
      404,
      'not-found',
      null,
    ])
  })

  test('with values that a header can hold, whatever the request named', async () => {
    const answer = await w.admin('/admin/api/payments/plan-settings', {
      body: { prices: { 'цена\n': 'x' } },
    })
    expect(said(answer)).toEqual([
      400,
      expect.any(String),
      expect.objectContaining({ field: expect.stringMatching(/^prices/) }),
    ])
    expect(answer.headers.get('x-error-values')).toMatch(/^[\x21-\x7e]+$/)
  })
})

test('a success has none', async () => {
  expect(said(await w.admin('/admin/api/nodes'))).toEqual([200, null, null])
})

test('a fault is one, of which nothing is said', async () => {
  const broken = await createWorld()
  broken.change('alter table gift_codes rename to lost')
  expect(said(await broken.admin('/admin/api/gift-codes'))).toEqual([500, 'internal-error', null])
  broken.close()
})
