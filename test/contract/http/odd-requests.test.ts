/** Paths, queries and headers that no honest client sends. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addDevice, addNode, addSubscription, addUser } from '#test/support/rows/records.ts'
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

const REFUSALS_ARE_NOTED = ['audit_log', 'login_attempts', 'account_attempts', 'sqlite_sequence']
const PARTS = ['%00', 'a%00b', '%F0%9F%92%A9', '%ff', '%', '%zz', '%2e%2e', '%2f', '..%2f..%2fetc']

PARTS.push(
  'x'.repeat(10_000),
  '%E2%80%AE',
  '__proto__',
  'constructor',
  "'%20or%201=1--",
  '*',
  ':x',
  '%0d%0aX:1',
)

const PATHS = (part: string): [method: string, path: string][] => [
  ['GET', `/sub/${part}`],
  ['GET', `/sub/${part}?format=${part}&lang=${part}`],
  ['GET', `/sub/${part}/open/happ`],
  ['GET', `/sub/token/open/${part}`],
  ['GET', `/api/cabinet/${part}`],
  ['GET', `/assets/${part}`],
  ['GET', `/admin/assets/${part}`],
  ['GET', `/${part}`],
  ['GET', `/?lang=${part}`],
  ['GET', `/admin/api/nodes/${part}/status`],
  ['GET', `/admin/api/nodes/${part}/metrics`],
  ['GET', `/admin/api/nodes/de1/traffic?days=${part}`],
  ['POST', `/admin/api/nodes/${part}/check`],
  ['PATCH', `/admin/api/nodes/${part}`],
  ['DELETE', `/admin/api/nodes/${part}`],
  ['GET', `/admin/api/users/${part}`],
  ['POST', `/admin/api/users/${part}/grant`],
  ['DELETE', `/admin/api/users/7/devices/${part}`],
  ['DELETE', `/admin/api/users/${part}/devices/1`],
  ['POST', `/admin/api/subscriptions/${part}/revoke`],
  ['POST', `/admin/api/subscriptions/${part}/hold`],
  ['GET', `/admin/api/subscriptions?q=${part}&node=${part}&plan=${part}`],
  ['GET', `/admin/api/subscriptions?cursor=${part}`],
  ['GET', `/admin/api/audit?action=${part}&admin=${part}`],
  ['GET', `/admin/api/${part}`],
]

describe('odd paths and queries', () => {
  test.each(PARTS)('never a fault, nothing changed: %s', async (part) => {
    const before = w.dump()
    for (const [method, path] of PATHS(part)) {
      for (const accept of ['*/*', 'text/html']) {
        const options = { method, headers: { accept }, ...(method === 'GET' ? {} : { raw: '{}' }) }
        const answer = await w.admin(path, options)
        expect(answer.status, `${method} ${path.slice(0, 100)}`).toBeLessThan(500)
        expect(answer.headers.get('x'), path.slice(0, 100)).toBeNull()
      }
    }
    expect(w.dump()).toBe(before)
    expect(w.fatal).toEqual([])
  })
})

describe('odd headers', () => {
  const HOSTS = [
    '',
    'panel.test:',
    'panel.test:99999',
    ':3000',
    '[::1]',
    '[',
    ']:',
    'a b',
    '..',
    '*',
  ]
  HOSTS.push(
    'panel.test/admin',
    'admin@panel.test',
    'x'.repeat(5000),
    '%00',
    'panel.test,site.test',
  )

  test.each(HOSTS)('never a fault for the host %j', async (host) => {
    const before = w.dump(...REFUSALS_ARE_NOTED)
    for (const path of ['/', '/healthz', '/admin', '/sub/x', '/api/plans', '/admin/api/nodes']) {
      const { status } = await w.admin(path, { host })
      expect(status, path).toBeLessThan(500)
    }
    const login = { username: '', password: '' }
    const headers = { origin: `http://${host}` }
    expect((await w.call('/admin/api/login', { host, body: login, headers })).status).toBeLessThan(
      500,
    )
    expect(w.dump(...REFUSALS_ARE_NOTED)).toBe(before)
  })

  test('never a fault for odd values of the headers that are read', async () => {
    const odd = ['', ' ', 'x'.repeat(9000), 'é', '\x7f', '%00', '"', '<script>', ';;;', ',,,', '=']
    const names = ['user-agent', 'x-hwid', 'x-device-os', 'x-device-model', 'accept', 'cookie']
    names.push('accept-language', 'origin', 'sec-fetch-site', 'x-real-ip', 'content-type')
    const token = w.rows('select token from users')[0].token
    for (const name of names) {
      for (const value of odd) {
        for (const path of [`/sub/${token}`, '/', '/admin/api/me', '/admin/api/nodes']) {
          const headers = { 'user-agent': 'happ', 'x-hwid': 'device-0001', [name]: value }
          const { status } = await w.call(path, { headers })
          expect(status, `${name}: ${value.slice(0, 20)} at ${path}`).toBeLessThan(500)
        }
      }
    }
    expect(w.fatal).toEqual([])
  })

  test('a content-length that is none does not open the limit', async () => {
    for (const length of ['abc', '-1', '0', '1e9', 'Infinity']) {
      const headers = { 'content-length': length }
      const raw = new ReadableStream({
        pull(controller) {
          controller.enqueue(new Uint8Array(70_000))
          controller.close()
        },
      })
      const answer = await w.admin('/admin/api/hwid-settings', { headers, raw })
      expect(answer.status, length).toBe(413)
    }
  })
})
