/** Hosts of nodes: changed, deleted, put in another order, and what of that is refused. */
import { expect } from 'vitest'
import { addHosts, addOffering } from '#test/support/rows/hosts.ts'
import { addHost, auditOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const HOSTS = '/admin/api/nodes/nl1/hosts'
const OF_US1 = '/admin/api/nodes/us1/hosts'

const unknownNode = { status: 404, error: 'node not found' }
const unknownHost = { status: 404, error: 'host not found' }

const idsOf = (w: World) =>
  w.rows('select id from node_hosts order by node, sort_order, id').map(({ id }) => id)

const detailsOf = (w: World) => w.rows('select action, object, detail from audit_log order by id')

const patch = (body: unknown, path = `${HOSTS}/1`) => ({ path, method: 'PATCH', body })

scenarios('PATCH /admin/api/nodes/{code}/hosts/{id}', [
  {
    name: '200 with what is given, its transport as it was',
    given: addHosts,
    request: patch({
      ...{ transport: 'xhttp', label: '', port: null, sni: '', host: '', path: '' },
      fingerprint: '',
    }),
    status: 200,
    body: {
      ...{ id: 1, node: 'nl1', transport: 'ws', label: '', address: 'cdn.test', port: null },
      ...{ sni: '', host: '', path: '', fingerprint: '', enabled: true, sort_order: 1 },
      formats: [],
    },
    effects: (w) =>
      expect(detailsOf(w)).toEqual([
        {
          action: 'host.edit',
          object: 'nl1',
          detail: 'ws cdn.test: label port sni host path fingerprint',
        },
      ]),
  },
  {
    name: '200 without a change, of which nothing is noted',
    given: addHosts,
    request: patch({}),
    status: 200,
    effects: (w) => expect(auditOf(w)).toEqual([]),
  },
  {
    name: '200 for one that is switched off, whatever formats it has',
    given: (w) => {
      addHosts(w)
      w.change(`update node_hosts set formats = '["xray"]' where node = 'us1'`)
    },
    request: patch({ enabled: false }, `${OF_US1}/3`),
    status: 200,
    effects: (_w, _given, { json }) => expect(json.enabled).toBe(false),
  },
  {
    name: '400 where apps would get nothing of the node then',
    given: addHosts,
    request: patch({ formats: ['xray'] }, `${OF_US1}/3`),
    status: 400,
    error: /^apps that read base64, links, mihomo, singbox would get nothing/,
    effects: (w) =>
      expect(w.rows("select formats from node_hosts where node = 'us1'")).toEqual([
        { formats: '[]' },
      ]),
  },
  {
    name: '400 for a field that means nothing with its transport',
    given: addHosts,
    request: patch({ path: '/x' }, `${HOSTS}/2`),
    status: 400,
    error: 'path has no meaning with reality',
  },
  {
    name: '400 for a transport that its node has lost',
    given: (w) => {
      addHosts(w)
      w.change("update nodes set transports_json = '[]' where code = 'nl1'")
    },
    request: patch({ label: 'x' }),
    status: 400,
    error: 'transport is not one of this node',
  },
  {
    name: '400 for what is no address',
    given: addHosts,
    request: patch({ address: 'a/b' }),
    status: 400,
    error: 'address must be a host name or an IP address',
  },
  ...['3', '9', '0', 'x'].map(
    (id): Scenario => ({
      name: `404 for ${id}, which is none of the node`,
      given: addHosts,
      request: patch({ label: 'x' }, `${HOSTS}/${id}`),
      ...unknownHost,
    }),
  ),
  { name: '404 for a node that there is not', request: patch({ label: 'x' }), ...unknownNode },
])

const remove = (path: string) => ({ path, method: 'DELETE' })

scenarios('DELETE /admin/api/nodes/{code}/hosts/{id}', [
  {
    name: '200',
    given: addHosts,
    request: remove(`${HOSTS}/1`),
    status: 200,
    body: { ok: true },
    effects: (w) => {
      expect(idsOf(w)).toEqual([2, 3])
      expect(detailsOf(w)).toEqual([
        { action: 'host.delete', object: 'nl1', detail: 'ws cdn.test port 443' },
      ])
    },
  },
  {
    name: '400 where those that stay would leave apps without the node',
    given: (w) => {
      addOffering(w)
      addHost(w, 'us1')
      addHost(w, 'us1', { formats: '["links"]' })
    },
    request: remove(`${OF_US1}/1`),
    status: 400,
    error: /^apps that read base64, mihomo, singbox, xray would get nothing/,
    effects: (w) => expect(idsOf(w)).toEqual([1, 2]),
  },
  {
    name: '404 for one of another node',
    given: addHosts,
    request: remove(`${HOSTS}/3`),
    ...unknownHost,
  },
  { name: '404 for a node that there is not', request: remove(`${HOSTS}/1`), ...unknownNode },
])

const order = (body: unknown) => ({ path: `${HOSTS}/order`, body })
const notEach = { status: 400, error: 'ids must name every host exactly once' }

scenarios('POST /admin/api/nodes/{code}/hosts/order', [
  {
    name: '200, and those of other nodes stay',
    given: addHosts,
    request: order({ ids: [2, 1] }),
    status: 200,
    body: { ok: true },
    effects: (w) => {
      expect(w.rows('select id, sort_order from node_hosts order by id')).toEqual([
        { id: 1, sort_order: 2 },
        { id: 2, sort_order: 1 },
        { id: 3, sort_order: 1 },
      ])
      expect(auditOf(w)).toEqual(['host.reorder'])
    },
  },
  ...[[1], [1, 1], [1, 3], [1, 2, 3]].map(
    (ids): Scenario => ({
      name: `400 for ${ids}`,
      given: addHosts,
      request: order({ ids }),
      ...notEach,
    }),
  ),
  {
    name: '400 for none',
    given: addHosts,
    request: order({ ids: [] }),
    status: 400,
    error: 'ids must not be empty',
  },
  {
    name: '400 for what are no ids',
    given: addHosts,
    request: order({ ids: '1,2' }),
    status: 400,
    error: 'ids must be a list of ids',
  },
  { name: '404 for a node that there is not', request: order({ ids: [1] }), ...unknownNode },
])

scenarios('DELETE /admin/api/nodes/{code}: with hosts', [
  {
    name: '200, and its hosts are gone with it',
    given: addHosts,
    request: remove('/admin/api/nodes/nl1'),
    status: 200,
    effects: (w) => expect(idsOf(w)).toEqual([3]),
  },
])
