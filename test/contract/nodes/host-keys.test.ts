/** SSH host keys of nodes: pinned, compared, shown, and replaced only by an admin's word. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ENGINE } from '#db/engine/engine.ts'
import { admitHostKey, pinnedKeys } from '#src/domain/nodes/host-keys.ts'
import { addNode, auditOf, nowOf, putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const NODES = '/admin/api/nodes'

/** Keys and fingerprints as ssh-keygen 9.2 wrote them. */
const OLD = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDTC55uxBOGQeuSKIBl8ur1WHJyklQbO+Y1dWN6A78pG'
const OLD_PRINT = 'SHA256:1XZO5i1ogCXx6ysrrshAh6lE3jXd85pLdTC48XhGk9E'
const NEW = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEEZFN0wZZYenFoehJsvMFiduhPNkO18waMhv3me9r3y'
const NEW_PRINT = 'SHA256:v5qKiwXsKBHYqbnYDGvTfMdn3GOJUWBmbXk5OhVgNQ0'
const RSA =
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCtTaARHxYpDAvAzl3vxNdkAGE+VbmiNp+oQAzEPOdW3lvbtE0pqPMOHJLX6l0GsEk5juhgnAV79O1cl9ZwuwpY1vLDkF9KpFi/bBcnYOjwDOpankxh8fvzWScpK+9VplxvtStyNbUvmnGQmM7R9+elFWMC4wwxa2jH4DYf0nM3Qkalo1lp2HED2H1XFGnF8Go8V5PTDxNZQleFh4B4IOVoSi/P5bZDb1LMd5XIp+0QM+FFVjjtMVHaKmJ10rpJTti16+tk/eEUGaSjeNFEPcRG/iZZFFtpdBlGmwmKjESpTzOoV06yaJ0sJX8i52f9DbRhz9Cg6P5Lrdq1ZOAKxgTJ'
const RSA_PRINT = 'SHA256:UDfO3iUfMC8z7NqM9zeRffPy2nnEarcYKkzzOf60RCg'

const nodeOf = (w: World, code = 'nl') =>
  w.rows('select host_key, presented_host_key from nodes where code = ?', code)[0]

const managed = (w: World, more = {}) =>
  addNode(w, 'nl', { kind: 'managed', host_key: OLD, ...more })

const trust = (fingerprint: unknown, code = 'nl') => ({
  path: `${NODES}/${code}/trust-host-key`,
  body: { fingerprint },
})

const refuses = (name: string, fingerprint: unknown, error: string | RegExp): Scenario => ({
  name: `400 ${name}`,
  given: (w) => managed(w, { presented_host_key: NEW }),
  request: trust(fingerprint),
  status: 400,
  error,
  effects: (w) => {
    expect(nodeOf(w)).toEqual({ host_key: OLD, presented_host_key: NEW })
    expect(auditOf(w)).toEqual([])
  },
})

const WRONG = 'fingerprint is not that of the key presented last'

scenarios('POST /admin/api/nodes/{code}/trust-host-key', [
  {
    name: '200 and the key presented last is the only pinned one, in known_hosts too',
    given: async (w) => {
      managed(w, { host_key: `${OLD}\n${RSA}`, ssh_port: 2222 })
      await w.s.writeKnownHosts()
      await admitHostKey(w.s, 'nl', NEW)
    },
    request: trust(NEW_PRINT),
    status: 200,
    body: { ok: true },
    effects: (w) => {
      expect(nodeOf(w)).toEqual({ host_key: NEW, presented_host_key: null })
      expect(w.rows('select action, object, detail, admin, ip from audit_log')).toEqual([
        {
          action: 'node.trust-host-key',
          object: 'nl',
          detail: NEW_PRINT,
          admin: 'admin',
          ip: '127.0.0.1',
        },
      ])
      expect(w.knownHosts()).toBe(`[nl.nodes.test]:2222 ${NEW}\n`)
      expect(w.rows('select host, port, key_type from known_hosts')).toEqual([
        { host: 'nl.nodes.test', port: 2222, key_type: 'ssh-ed25519' },
      ])
      expect(w.node.calls.map(({ verb }) => verb)).toContain('status')
    },
  },
  {
    name: '200 and that is alerted of, and the next other key again',
    given: async (w) => {
      putSettings(w, { ADMIN_TG_IDS: '501' })
      managed(w)
      await admitHostKey(w.s, 'nl', NEW)
    },
    request: trust(NEW_PRINT),
    status: 200,
    effects: async (w) => {
      await admitHostKey(w.s, 'nl', RSA)
      const told = w
        .rows('select payload from outbox order by id')
        .map((row) => JSON.parse(row.payload))
      const by = { admin: 'admin', ip: '127.0.0.1' }
      expect(told).toEqual([
        { about: 'host-key-changed', node: 'Label of nl' },
        { about: 'host-key-trusted', node: 'Label of nl', fingerprint: NEW_PRINT, ...by },
        { about: 'host-key-changed', node: 'Label of nl' },
      ])
    },
  },
  {
    name: '400 for the key of another node, whose customers would be cut off',
    given: (w) => {
      managed(w, { presented_host_key: NEW })
      addNode(w, 'other', { kind: 'managed', host_key: NEW })
    },
    request: trust(NEW_PRINT),
    status: 400,
    error: 'that is the host key of the node Label of other',
  },
  {
    name: '200 for one, 400 for the rest of many at once',
    given: async (w) => {
      managed(w, { presented_host_key: NEW })
      const all = Array.from({ length: 4 }, () =>
        w.admin(trust(NEW_PRINT).path, { body: { fingerprint: NEW_PRINT } }),
      )
      return (await Promise.all(all)).map(({ status }) => status).sort()
    },
    request: trust(NEW_PRINT),
    status: 400,
    error: 'the node has presented no other host key',
    effects: (w, statuses) => {
      expect(statuses).toEqual([200, 400, 400, 400])
      expect(auditOf(w)).toEqual(['node.trust-host-key'])
    },
  },
  refuses('for the fingerprint of the pinned key', OLD_PRINT, WRONG),
  refuses('for another key that was presented before', RSA_PRINT, WRONG),
  refuses('for a part of the fingerprint', NEW_PRINT.slice(0, -1), WRONG),
  refuses('for the fingerprint in other letters', NEW_PRINT.toLowerCase(), WRONG),
  refuses('for the fingerprint without its kind', NEW_PRINT.slice(7), WRONG),
  refuses('for the key itself', NEW, WRONG),
  refuses('for an empty fingerprint', '', /^fingerprint /),
  refuses('for a number', 5, /^fingerprint /),
  refuses('for a missing fingerprint', undefined, /^fingerprint /),
  {
    name: '400 where no other key was presented',
    given: (w) => managed(w),
    request: trust(OLD_PRINT),
    status: 400,
    error: 'the node has presented no other host key',
  },
  {
    name: '400 for an external node',
    given: (w) => addNode(w, 'ext'),
    request: trust(NEW_PRINT, 'ext'),
    status: 400,
    error: 'the node has presented no other host key',
  },
  {
    name: '400 for malformed JSON',
    given: (w) => managed(w, { presented_host_key: NEW }),
    request: { path: `${NODES}/nl/trust-host-key`, raw: '{' },
    status: 400,
    error: 'invalid JSON',
  },
  {
    name: '404 for an unknown node',
    request: trust(NEW_PRINT, 'nope'),
    status: 404,
    error: 'node not found',
  },
  {
    name: '401 without a session',
    given: (w) => managed(w, { presented_host_key: NEW }),
    request: { ...trust(NEW_PRINT), anonymous: true },
    status: 401,
    error: 'unauthorized',
  },
])

const shown = (name: string, more: object, wanted: object): Scenario => ({
  name: `200 with ${name}`,
  given: (w) => managed(w, more),
  request: { path: NODES },
  status: 200,
  effects: (_w, _given, { json, text }) => {
    expect(json[1]).toMatchObject(wanted)
    expect(text).not.toContain('AAAA')
  },
})

scenarios('the host keys of GET /admin/api/nodes', [
  shown('null for a node that was never met', { host_key: null }, { host_key: null }),
  shown('the fingerprint of the pinned key', {}, { host_key: OLD_PRINT, presented_host_key: null }),
  shown(
    'the fingerprints of all pinned keys, and of the one presented last',
    { host_key: `${OLD}\n${RSA}`, presented_host_key: NEW },
    { host_key: `${OLD_PRINT} ${RSA_PRINT}`, presented_host_key: NEW_PRINT },
  ),
  shown('a pinned key that is none', { host_key: 'nonsense' }, { host_key: 'unreadable' }),
])

let w: World
beforeEach(async () => {
  w = await createWorld({ environment: { ADMIN_TG_IDS: '501' } })
})
afterEach(() => w.close())

const admit = (key: string, code = 'nl') => admitHostKey(w.s, code, key)

test('the key of another node is not pinned on first use: its server may be behind', async () => {
  managed(w, { host_key: null })
  addNode(w, 'other', { kind: 'managed', host_key: NEW })
  expect(await admit(NEW)).toBe(false)
  expect(nodeOf(w)).toEqual({ host_key: null, presented_host_key: NEW })
  expect(await admit(RSA)).toBe(true)
})
const alerts = () => w.rows('select payload from outbox').map((row) => JSON.parse(row.payload))

test('the first key is pinned, and let in from then on', async () => {
  managed(w, { host_key: null })
  expect(pinnedKeys(w.s, 'nl')).toEqual([])
  expect(await admit(OLD)).toBe(true)
  expect(nodeOf(w)).toEqual({ host_key: OLD, presented_host_key: null })
  expect(await admit(OLD)).toBe(true)
  expect(w.knownHosts()).toBe(`nl.nodes.test ${OLD}\n`)
  expect(alerts()).toEqual([])
})

test('of two first keys at once one is pinned and the other refused', async () => {
  managed(w, { host_key: null })
  const outcomes = await Promise.all([admit(OLD), admit(NEW), admit(OLD), admit(NEW)])
  if (ENGINE === 'sqlite') {
    expect(outcomes).toEqual([true, false, true, false])
    expect(nodeOf(w)).toEqual({ host_key: OLD, presented_host_key: NEW })
    return
  }
  // Elsewhere it is the database's choice who comes first and who last; one that is let in ends the matter of the other.
  const pinned = nodeOf(w).host_key
  expect([OLD, NEW]).toContain(pinned)
  expect(outcomes).toEqual([OLD, NEW, OLD, NEW].map((key) => key === pinned))
  expect([pinned === OLD ? NEW : OLD, null]).toContain(nodeOf(w).presented_host_key)
})

test('any of several pinned keys is let in', async () => {
  managed(w, { host_key: `${OLD}\n${RSA}` })
  expect(await admit(RSA)).toBe(true)
  expect(await admit(NEW)).toBe(false)
})

test('another key is refused and kept, with one alert however often it comes', async () => {
  managed(w)
  for (const key of [NEW, NEW, RSA, NEW]) expect(await admit(key)).toBe(false)
  expect(nodeOf(w)).toEqual({ host_key: OLD, presented_host_key: NEW })
  expect(alerts()).toEqual([{ about: 'host-key-changed', node: 'Label of nl' }])
  expect(w.log.filter((line) => line.includes('another host key'))).toHaveLength(3)
})

test('the pinned key ends the matter when it is back', async () => {
  managed(w)
  await admit(NEW)
  expect(await admit(OLD)).toBe(true)
  expect(nodeOf(w)).toEqual({ host_key: OLD, presented_host_key: null })
  await admit(NEW)
  expect(alerts()).toHaveLength(2)
})

test('a pinned key that is no key lets nobody in', async () => {
  managed(w, { host_key: 'nonsense' })
  expect(await admit(OLD)).toBe(false)
})

test('no key of a node that was deleted meanwhile is let in', async () => {
  expect(await admit(OLD, 'gone')).toBe(false)
})

test('a node keeps its pinned key at another address', async () => {
  managed(w, { host_key: `${OLD}\n${RSA}` })
  await w.s.writeKnownHosts()
  expect(w.knownHosts()).toBe(`nl.nodes.test ${OLD}\nnl.nodes.test ${RSA}\n`)
  w.clock.advance(5000)
  await w.admin(`${NODES}/nl`, { method: 'PATCH', body: { address: 'NL2.nodes.test' } })
  expect(nodeOf(w).host_key).toBe(`${OLD}\n${RSA}`)
  expect(w.knownHosts()).toBe(`nl2.nodes.test ${OLD}\nnl2.nodes.test ${RSA}\n`)
  expect(w.rows('select created_at from known_hosts')[0]).toEqual({ created_at: nowOf(w) })
})

test('known_hosts names no pattern, and a server of two nodes once', async () => {
  managed(w, { address: '*', ssh_port: 22 })
  addNode(w, 'a', { kind: 'managed', host_key: OLD, address: '2001:db8::1' })
  addNode(w, 'b', { kind: 'managed', host_key: NEW, address: '2001:db8::1' })
  await w.s.writeKnownHosts()
  expect(w.knownHosts()).toBe(`2001:db8::1 ${OLD}\n`)
})
