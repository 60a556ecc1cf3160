/** Hosts of nodes: listed and added, and what is refused of new ones. */
import { expect } from 'vitest'
import { addOffering, CDN } from '#test/support/rows/hosts.ts'
import { addHost, auditOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const HOSTS = '/admin/api/nodes/nl1/hosts'

const VIEW = {
  ...{ node: 'nl1', transport: 'reality', label: '', address: 'host.test', port: null, sni: '' },
  ...{ host: '', path: '', fingerprint: '', enabled: true, sort_order: 1, formats: [] },
}

const idsOf = (w: World) =>
  w.rows('select id from node_hosts order by node, sort_order, id').map(({ id }) => id)

const detailsOf = (w: World) => w.rows('select action, object, detail from audit_log order by id')

const unknownNode: Pick<Scenario, 'status' | 'error'> = { status: 404, error: 'node not found' }

scenarios('GET /admin/api/nodes/{code}/hosts', [
  {
    name: '200 with none at first',
    given: addOffering,
    request: { path: HOSTS },
    status: 200,
    body: [],
  },
  {
    name: '200 with those of the node in their order, those that are off too',
    given: (w) => {
      addOffering(w)
      addHost(w, 'nl1', { sort_order: 2, enabled: 0, port: 8443 })
      addHost(w, 'us1')
      addHost(w, 'nl1', { sort_order: 1, formats: '["links","xray"]' })
    },
    request: { path: HOSTS },
    status: 200,
    body: [
      { ...VIEW, id: 3, formats: ['links', 'xray'] },
      { ...VIEW, id: 1, sort_order: 2, enabled: false, port: 8443 },
    ],
  },
  { name: '404 for a node that there is not', request: { path: HOSTS }, ...unknownNode },
])

const refuses = (body: unknown, error: string | RegExp, given = addOffering): Scenario => ({
  name: `400 for ${JSON.stringify(body)}`,
  given,
  request: { path: HOSTS, body },
  status: 400,
  error,
})

const reality = { transport: 'reality', address: 'host.test' }

scenarios('POST /admin/api/nodes/{code}/hosts', [
  {
    name: '200 with all else left to the node, behind the others',
    given: (w) => {
      addOffering(w)
      addHost(w, 'us1', { sort_order: 7 })
      addHost(w, 'nl1')
    },
    request: { path: HOSTS, body: reality },
    status: 200,
    body: { ...VIEW, id: 3, sort_order: 2 },
    effects: (w) =>
      expect(detailsOf(w)).toEqual([
        { action: 'host.create', object: 'nl1', detail: 'reality host.test' },
      ]),
  },
  {
    name: '200 for a CDN before WebSocket',
    given: addOffering,
    request: { path: HOSTS, body: { ...CDN, formats: ['links', 'base64'], enabled: false } },
    status: 200,
    body: { ...VIEW, ...CDN, id: 1, enabled: false, formats: ['links', 'base64'] },
    effects: (w) => expect(detailsOf(w)).toMatchObject([{ detail: 'ws cdn.test port 443' }]),
  },
  {
    name: '200 with names as they are asked for',
    given: addOffering,
    request: {
      path: HOSTS,
      body: { transport: 'xhttp', address: ' [2001:DB8::1] ', sni: 'München.example', host: '' },
    },
    status: 200,
    effects: (_w, _given, { json }) =>
      expect(json).toMatchObject({ address: '2001:db8::1', sni: 'xn--mnchen-3ya.example' }),
  },
  {
    name: '200 for formats that leave no app out',
    given: addOffering,
    request: { path: HOSTS, body: { ...reality, formats: ['xray'] } },
    status: 200,
  },
  ...['reality', 'hysteria2'].map((transport) =>
    refuses(
      { transport, address: 'host.test', sni: 'another.test' },
      `sni has no meaning with ${transport}`,
      (w) => {
        addOffering(w)
        w.change("update nodes set kind = 'managed' where code = 'nl1'")
      },
    ),
  ),
  refuses({ address: 'host.test' }, /^transport /),
  refuses(
    { ...reality, transport: 'kcp' },
    'transport must be one of reality, ws, xhttp, grpc, hysteria2',
  ),
  refuses({ transport: 'reality' }, /^address /),
  ...['', 'a b', 'host.test/x', 'host.test:443', '1.2.3', '-x.test'].map((address) =>
    refuses({ ...reality, address }, 'address must be a host name or an IP address'),
  ),
  ...[0, 65_536, 4.5, '443'].map((port) =>
    refuses({ ...reality, port }, 'port must be a whole number from 1 to 65535'),
  ),
  refuses({ ...CDN, sni: '192.0.2.1' }, 'sni must be a host name'),
  refuses({ ...CDN, host: 'a b' }, 'host must be a host name or an IP address'),
  ...['ws', '/a b', '/#x', '/"'].map((path) =>
    refuses(
      { ...CDN, path },
      'path must begin with / and have letters, digits and signs of addresses alone',
    ),
  ),
  refuses({ ...CDN, path: `/${'x'.repeat(255)}` }, 'path must have at most 255 characters'),
  refuses(
    { ...CDN, fingerprint: 'android' },
    'fingerprint must be one of chrome, firefox, safari, ios, edge, random',
  ),
  refuses({ ...reality, label: 'a\nb' }, 'label must be one line without control characters'),
  refuses({ ...reality, label: 'x'.repeat(129) }, 'label must have at most 128 characters'),
  refuses({ ...reality, enabled: 1 }, 'enabled must be true or false'),
  refuses({ ...reality, formats: 'xray' }, 'formats must be a list of list formats'),
  refuses({ ...reality, formats: ['clash'] }, /^formats\.0 must be one of base64, links, /),
  refuses({ ...reality, formats: ['xray', 'xray'] }, 'formats must have each format once'),
  refuses({ ...reality, path: '/x' }, 'path has no meaning with reality'),
  refuses({ ...reality, host: 'x.test' }, 'host has no meaning with reality'),
  refuses(
    { ...reality, transport: 'hysteria2', fingerprint: 'chrome' },
    'fingerprint has no meaning with hysteria2',
  ),
  {
    name: '400 for a transport that the node does not have',
    given: addOffering,
    request: { path: '/admin/api/nodes/us1/hosts', body: CDN },
    status: 400,
    error: 'transport is not one of this node',
  },
  {
    name: '400 for formats by which apps would get nothing of the node, naming them',
    given: addOffering,
    request: {
      path: '/admin/api/nodes/us1/hosts',
      body: { ...reality, formats: ['xray', 'links', 'base64'] },
    },
    status: 400,
    error:
      'apps that read mihomo, singbox would get nothing of this node: let a host or transport have them',
    effects: (w) => expect([idsOf(w), auditOf(w)]).toEqual([[], []]),
  },
  {
    name: '400 where apps that take plain links alone would get nothing',
    given: (w) => {
      addOffering(w)
      w.change("update nodes set hysteria_password = null where code = 'nl1'")
    },
    request: { path: HOSTS, body: { ...reality, formats: ['mihomo'] } },
    status: 400,
    error:
      'apps that read base64 would get nothing of this node: let a host or transport have them',
  },
  {
    name: '400 for one more than a node can have',
    given: (w) => {
      addOffering(w)
      for (let i = 0; i < 50; i++) addHost(w, 'nl1')
    },
    request: { path: HOSTS, body: reality },
    status: 400,
    error: 'there can be at most 50 hosts of a node',
  },
  {
    name: '404 for a node that there is not',
    request: { path: HOSTS, body: reality },
    ...unknownNode,
  },
])
