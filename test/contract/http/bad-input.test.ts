import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addDevice, addNode, addSubscription, addUser } from '#test/support/rows/records.ts'
import type { Answer } from '#test/support/worlds/answer.ts'
import { expectDecent } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld({ environment: { HWID_LIMIT_ENABLED: 'true' } })
  addUser(w, 7)
  addNode(w, 'nl')
  addDevice(w, 7, 'device-0001')
  addSubscription(w, 7, { node: 'nl' })
})

afterEach(() => w.close())

/** Routes that read a body. */
const WITH_BODY: [method: string, path: string][] = [
  ['POST', '/admin/api/login'],
  ['POST', '/admin/api/nodes'],
  ['PATCH', '/admin/api/nodes/nl'],
  ['PATCH', '/admin/api/nodes/de1'],
  ['POST', '/admin/api/nodes/reorder'],
  ['POST', '/admin/api/plans/reorder'],
  ['POST', '/admin/api/users/7/grant'],
  ['POST', '/admin/api/users/7/hwid-limit'],
  ['POST', '/admin/api/hwid-settings'],
  ['POST', '/admin/api/sync'],
  ['POST', '/admin/api/qr'],
]

const bytes = (...values: number[]) => new Uint8Array(values)
const quoted = (inner: Uint8Array) => new Uint8Array([...bytes(0x22), ...inner, 0x22])

/** Bodies that no route takes. */
const BODIES: [name: string, body: string | Uint8Array, statuses: number[]][] = [
  ['half an object', '{"a":', [400]],
  ['text', 'hello', [400]],
  ['a form', 'username=admin&password=x', [400]],
  ['a trailing comma', '{"a":1,}', [400]],
  ['single quotes', "{'a':1}", [400]],
  ['NaN', '{"a":NaN}', [400]],
  ['two objects', '{}{}', [400]],
  ['a zero byte', bytes(0), [400]],
  ['a list', '[]', [400]],
  ['a list of objects', '[{"enabled":true}]', [400]],
  ['null', 'null', [400]],
  ['true', 'true', [400]],
  ['a number', '5', [400]],
  ['a string', '"x"', [400]],
  ['invalid UTF-8', quoted(bytes(0xff, 0xfe)), [400]],
  ['overlong UTF-8', quoted(bytes(0xc0, 0xaf)), [400]],
  ['a half surrogate', quoted(bytes(0xed, 0xa0, 0x80)), [400]],
  ['UTF-16', bytes(0xff, 0xfe, 0x7b, 0, 0x7d, 0), [400]],
  ['60,000 open brackets', '['.repeat(60_000), [400]],
  ['30,000 nested lists', `${'['.repeat(30_000)}${']'.repeat(30_000)}`, [400]],
  ['10,000 nested objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, [200, 400]],
  ['200,000 open brackets', '['.repeat(200_000), [413]],
  ['65,537 bytes', ' '.repeat(65_537), [413]],
  ['a megabyte', `{"a":"${'x'.repeat(1_000_000)}"}`, [413]],
]

/** Values of every type, put into every field. */
const VALUES: unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, '', ' ', 'x', '\0', '\u202e', '\ud800', '💩'],
  ...['x'.repeat(5000), [], [null], [[]], {}, { a: 1 }, { __proto__: null }, { toString: 1 }],
]

const FIELDS: Record<string, string[]> = {
  '/admin/api/login': ['username', 'password'],
  '/admin/api/nodes': ['code', 'label', 'kind', 'address', 'port', 'public_key', 'short_id', 'sni'],
  '/admin/api/nodes/reorder': ['codes'],
  '/admin/api/plans/reorder': ['codes'],
  '/admin/api/users/7/grant': ['node', 'plan'],
  '/admin/api/users/7/hwid-limit': ['limit'],
  '/admin/api/hwid-settings': ['enabled', 'fallback_limit'],
  '/admin/api/sync': ['force'],
  '/admin/api/qr': ['text'],
}

FIELDS['/admin/api/nodes/nl'] = [
  ...(FIELDS['/admin/api/nodes'] ?? []),
  'flow',
  'shared_uuid',
  'enabled',
]

FIELDS['/admin/api/nodes/de1'] = FIELDS['/admin/api/nodes/nl']

/** What makes a body right but for the field under test. */
const RIGHT: Record<string, object> = {
  '/admin/api/login': { username: 'admin', password: 'wrong' },
  '/admin/api/nodes': {
    code: 'new',
    label: 'x',
    address: 'x',
    public_key: '',
    short_id: '',
    sni: '',
  },
  '/admin/api/users/7/grant': { node: 'de1', plan: '1m' },
  '/admin/api/hwid-settings': { enabled: true, fallback_limit: 3 },
}

const REFUSALS_ARE_NOTED = ['audit_log', 'login_attempts', 'account_attempts', 'sqlite_sequence']

/** No answer is a fault, and one that refuses has changed nothing. */
function expectHarmless(what: string, path: string, answer: Answer, before: string): void {
  expect(answer.status, `${what}: ${answer.text.slice(0, 200)}`).toBeLessThan(500)
  expectDecent(path, answer)
  if (answer.status >= 400) expect(w.dump(...REFUSALS_ARE_NOTED), what).toBe(before)
  expect(w.fatal, what).toEqual([])
}

async function attack(what: string, path: string, options: Parameters<World['call']>[1]) {
  const before = w.dump(...REFUSALS_ARE_NOTED)
  const answer = await w.admin(path, options)
  await w.s.background.idle()
  expectHarmless(what, path.split('?')[0] as string, answer, before)
  return answer
}

describe.each(WITH_BODY)('%s %s', (method, path) => {
  test.each(BODIES)('never a fault for %s', async (what, raw, statuses) => {
    const answer = await attack(what, path, { method, raw })
    expect(statuses, answer.text.slice(0, 200)).toContain(answer.status)
  })

  test('413 for a body that grows beyond 64 KB without a length, and it is not read to its end', async () => {
    let sent = 0
    const endless = () =>
      new ReadableStream({
        pull(controller) {
          sent += 1024
          controller.enqueue(new Uint8Array(1024).fill(0x20))
        },
      })
    const answer = await attack('endless', path, { method, raw: endless() })
    expect([answer.status, answer.json]).toEqual([413, { error: 'request body too large' }])
    expect(sent).toBeLessThan(80 * 1024)
  })

  test('413 for a length over 64 KB before anything is read', async () => {
    const headers = { 'content-length': '65537' }
    const answer = await attack('length', path, { method, raw: '{}', headers })
    expect(answer.status).toBe(413)
  })

  test('never a fault for a value of any type in any field', async () => {
    for (const field of FIELDS[path] ?? []) {
      for (const value of VALUES) {
        const raw = JSON.stringify({ ...RIGHT[path], [field]: value })
        await attack(raw.slice(0, 80), path, { method, raw })
      }
    }
  }, 60_000)

  test('keys of every object neither pass nor pollute', async () => {
    for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      for (const value of [
        '{"enabled":true,"polluted":true}',
        '1',
        'null',
        '{"prototype":{"x":1}}',
      ]) {
        await attack(key, path, { method, raw: `{"${key}":${value}}` })
      }
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(({} as Record<string, unknown>).enabled).toBeUndefined()
  })
})

test('what refuses does not repeat what it was sent', async () => {
  const mark = 'MARK-OF-THE-SENDER'
  const answers = await Promise.all([
    w.admin('/admin/api/hwid-settings', { body: { [mark]: 1 } }),
    w.admin('/admin/api/hwid-settings', { body: { enabled: mark } }),
    w.admin('/admin/api/nodes', { body: { code: mark, kind: mark } }),
    w.admin('/admin/api/nodes/reorder', { body: { codes: [mark] } }),
    w.admin(`/admin/api/nodes/${mark}/status`),
    w.admin(`/admin/api/users/${mark}`),
    w.admin('/admin/api/users/7/grant', { body: { node: mark, plan: mark } }),
    w.admin('/admin/api/users/7/hwid-limit', { body: { limit: mark } }),
    w.admin(`/admin/api/subscriptions/${mark}/hold`, { method: 'POST' }),
    w.admin(`/admin/api/subscriptions?sort=${mark}`),
    w.admin(`/admin/api/subscriptions?status=${mark}&limit=${mark}&cursor=${mark}`),
    w.call('/admin/api/login', { body: { username: mark, password: mark } }),
    w.call(`/sub/${mark}`),
    w.call(`/sub/${mark}`, { headers: { accept: 'text/html' } }),
    w.call(`/api/cabinet/${mark}`),
    w.call(`/${mark}?${mark}`, { headers: { 'x-mark': mark } }),
  ])
  for (const [i, answer] of answers.entries()) {
    expect(answer.status, String(i)).toBeGreaterThanOrEqual(400)
    expect(answer.text, String(i)).not.toContain(mark)
    expect(JSON.stringify([...answer.headers]), String(i)).not.toContain(mark)
  }
})
