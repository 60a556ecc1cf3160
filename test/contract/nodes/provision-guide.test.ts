import { describe, expect, test } from 'vitest'
import { rowOf } from '#test/support/rows/provisioned-rows.ts'
import { addNode, auditOf, eventsOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld } from '#test/support/worlds/world.ts'

const GUIDE = '/admin/api/nodes/provision-guide'
const NEW = { label: 'Amsterdam', address: 'ams.test' }

const COMMAND =
  /^command -v curl >\/dev\/null \|\| \{ apt-get update -q; apt-get install -yq --no-install-recommends curl ca-certificates; \} <\/dev\/null; echo 'url=https:\/\/panel\.test\/install\/([\w-]{43})\.sh' \| curl -fsSLK- \| bash$/

const asks = (more: object, name: string, effects: NonNullable<Scenario['effects']>): Scenario => ({
  name: `200 ${name}`,
  request: { path: GUIDE, body: { ...NEW, ...more } },
  status: 200,
  effects,
})

scenarios('POST /admin/api/nodes/provision-guide', [
  asks(
    {},
    'with a pending node that has its own keys and is not offered',
    (w, _given, { json }) => {
      expect(json).toEqual({ code: 'amsterdam', command: expect.stringMatching(COMMAND) })
      const row = rowOf(w, 'amsterdam')
      expect(row).toMatchObject({
        label: 'Amsterdam',
        kind: 'managed',
        address: 'ams.test',
        port: 443,
        sni: 'dl.google.com',
        flow: 'xtls-rprx-vision',
        status: 'pending',
        enabled: 0,
        sort_order: 2,
        transports_json: [],
        hysteria_port: null,
        hysteria_password: null,
        provision_expires_at: '2026-03-08T12:00:00',
        provision_token: COMMAND.exec(json.command)?.[1],
      })
      expect(row.private_key).toMatch(/^[\w-]{43}$/)
      expect(row.public_key).toMatch(/^[\w-]{43}$/)
      expect(row.short_id).toMatch(/^[0-9a-f]{16}$/)
      expect(eventsOf(w)).toEqual([])
      expect(w.rows('select admin, action, object from audit_log')).toEqual([
        { admin: 'admin', action: 'node.provision', object: 'amsterdam' },
      ])
    },
  ),
  asks(
    {
      port: 8443,
      sni: 'www.example.org',
      include_ws: true,
      include_xhttp: true,
      include_hysteria2: true,
      hysteria_port: 8444,
    },
    'with all transports, on ports of their own',
    (w) => {
      const row = rowOf(w, 'amsterdam')
      expect(row).toMatchObject({ port: 8443, sni: 'www.example.org', hysteria_port: 8444 })
      expect(row.transports_json).toEqual([
        { type: 'ws', port: 2053, path: expect.stringMatching(/^\/[0-9a-f]{16}$/) },
        { type: 'xhttp', port: 8443, path: expect.stringMatching(/^\/[0-9a-f]{16}$/) },
        { type: 'hysteria2', port: 8444 },
      ])
      expect(row.hysteria_password).toMatch(/^[\w-]{43}$/)
      expect(row.hysteria_obfs_password).toMatch(/^[\w-]{43}$/)
      expect(row.hysteria_password).not.toBe(row.hysteria_obfs_password)
    },
  ),
  asks({ include_grpc: true, port: 8443 }, 'with gRPC behind its port', (w) => {
    expect(rowOf(w, 'amsterdam').transports_json).toEqual([
      { type: 'grpc', port: 8443, service_name: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ])
  }),
  asks({ include_ws: true, include_hysteria2: true }, 'with the usual ports', (w) => {
    const { transports_json, hysteria_port } = rowOf(w, 'amsterdam')
    expect(hysteria_port).toBe(443)
    expect(transports_json.map((one: { port: number }) => one.port)).toEqual([8443, 443])
  }),
  asks({ hysteria_port: 8444 }, 'without Hysteria2 when only its port is given', (w) => {
    expect(rowOf(w, 'amsterdam')).toMatchObject({ transports_json: [], hysteria_port: null })
  }),
])

test('the command is over http where the service is public that way', async () => {
  const environment = { PUBLIC_SCHEME: 'http', PANEL_DOMAIN: 'panel.test:3000' }
  const w = await createWorld({ environment })
  const { json } = await w.admin(GUIDE, { body: NEW })
  w.close()
  expect(json.command).toContain("echo 'url=http://panel.test:3000/install/")
})

describe('the code of a node', () => {
  test.each([
    ['Amsterdam', 'amsterdam'],
    ['  Frankfurt am Main #1 ', 'frankfurt-am-main-1'],
    ['Zürich — Düsseldorf', 'zurich-dusseldorf'],
    ['Москва', 'moskva'],
    ['🇳🇱', 'node'],
    ['---', 'node'],
    ['-n', 'n'],
    ['$(reboot)', 'reboot'],
    ['a'.repeat(128), 'a'.repeat(24)],
    [`${'a'.repeat(23)} b`, 'a'.repeat(23)],
    ['de1', 'de1-2'],
    ['DE1', 'de1-2'],
    ['Нижний Щёкино №2', 'nizhnii-shchekino-no2'],
    ['東京', 'node'],
    ['Taken', 'taken-2'],
    ['Often', 'often-3'],
    ['x'.repeat(30), `${'x'.repeat(22)}-2`],
  ])('of "%s" is %s', async (label, code) => {
    const w = await createWorld()
    for (const taken of ['TAKEN', 'often', 'often-2', 'x'.repeat(24)]) addNode(w, taken)
    const { json } = await w.admin(GUIDE, { body: { ...NEW, label } })
    w.close()
    expect(json.code).toBe(code)
  })

  test('is given once where two ask at the same time', async () => {
    const w = await createWorld()
    const answers = await Promise.all([1, 2, 3].map(() => w.admin(GUIDE, { body: NEW })))
    w.close()
    const codes = answers.map(({ json }) => json.code).sort()
    expect(codes).toEqual(['amsterdam', 'amsterdam-2', 'amsterdam-3'])
  })
})

const refuses = (more: object, error: string | RegExp): Scenario => ({
  name: `400 for ${JSON.stringify(more).slice(0, 90)}`,
  request: { path: GUIDE, body: { ...NEW, ...more } },
  status: 400,
  error,
  effects: (w) => expect(auditOf(w)).toEqual([]),
})

const PORT = 'must be a whole number from 1 to 65535'
const ADDRESS = 'address must be a host name or an IP address'

scenarios('POST /admin/api/nodes/provision-guide refuses', [
  refuses({ label: undefined }, /^label/),
  refuses({ label: ' ' }, 'label must not be empty'),
  refuses({ label: 7 }, /^label/),
  refuses({ label: 'x'.repeat(129) }, /^label/),
  refuses({ label: 'two\nlines' }, /^label/),
  refuses({ address: undefined }, /^address/),
  ...[
    ...[
      '',
      ' ',
      'a b',
      'a;b',
      "a'b",
      '$(x)',
      '`x`',
      'a\nb',
      '-x',
      'x-',
      '.',
      'a..b',
      'http://a',
      'a:22',
    ],
    ...[
      '300.1.1.1',
      '1.2.3',
      '0x7f.1',
      '127.1',
      '1.2.3.4/24',
      'fe80::1%eth0',
      '[1.2.3.4',
      'a/b',
      'a_b',
    ],
    ...[`${'a'.repeat(64)}.test`, `${'a.'.repeat(126)}aa`, 'ä ö', '％41.test', 'a．b c'],
  ].map((address) => refuses({ address }, ADDRESS)),
  ...[0, 65_536, 1.5, '443', null].map((port) => refuses({ port }, `port ${PORT}`)),
  refuses({ hysteria_port: 0 }, `hysteria_port ${PORT}`),
  ...['', '1.2.3.4', 'a b', "x'y", '$(x)', 'a\nb'].map((sni) =>
    refuses({ sni }, 'sni must be a host name'),
  ),
  refuses({ include_grpc: true, include_xhttp: true }, 'one of grpc and xhttp behind one port'),
  ...['include_ws', 'include_xhttp', 'include_grpc', 'include_hysteria2'].map((flag) =>
    refuses({ [flag]: 'yes' }, `${flag} must be true or false`),
  ),
  {
    name: '400 for what is no JSON',
    request: { path: GUIDE, raw: '{', method: 'POST' },
    status: 400,
    error: 'invalid JSON',
  },
])

describe('the address of a node', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:DB8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    [' NL.Example.ORG. ', 'nl.example.org'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['localhost', 'localhost'],
  ])('%s becomes %s', async (address, wanted) => {
    const w = await createWorld()
    const { json } = await w.admin(GUIDE, { body: { ...NEW, address } })
    const row = rowOf(w, json.code)
    w.close()
    expect(row.address).toBe(wanted)
  })
})
