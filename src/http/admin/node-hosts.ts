/** Hosts of a node: list, add, change, order, delete. */
import * as v from 'valibot'
import { readHosts } from '#db/node-hosts.ts'
import {
  fingerprint,
  HOST_TRANSPORTS,
  hostAddress,
  hostHeader,
  hostLabel,
  hostPath,
  hostSni,
  port,
  rowId,
} from '#db/values.ts'
import { LIST_FORMATS } from '#src/domain/lists/formats.ts'
import { createHost, editHost, orderHosts, removeHost } from '#src/domain/lists/hosts.ts'
import { flag } from '#src/lib/values.ts'
import { requireConfirmed } from '../auth.ts'
import { adminOperations, operation } from '../operation.ts'
import { code, ok } from '../schemas/fields.ts'
import { nodeHost } from '../schemas/node-host.ts'
import { readId } from '../validate.ts'
import { nodeHostView } from '../views.ts'
import { nodeOf } from './one-node.ts'

const amongRule = (names: readonly string[]) => `must be one of ${names.join(', ')}`

/** Each once; none: all. */
const formats = v.pipe(
  v.array(v.picklist(LIST_FORMATS, amongRule(LIST_FORMATS)), 'must be a list of list formats'),
  v.check((names) => new Set(names).size === names.length, 'must have each format once'),
  v.metadata({ uniqueItems: true }),
)

const edition = v.object({
  label: v.optional(hostLabel),
  address: v.optional(hostAddress),
  port: v.optional(v.nullable(port)),
  sni: v.optional(hostSni),
  host: v.optional(hostHeader),
  path: v.optional(hostPath),
  fingerprint: v.optional(fingerprint),
  enabled: v.optional(flag),
  formats: v.optional(formats),
})

const creation = v.object({
  transport: v.picklist(HOST_TRANSPORTS, amongRule(HOST_TRANSPORTS)),
  label: v.optional(hostLabel, ''),
  address: hostAddress,
  port: v.optional(v.nullable(port), null),
  sni: v.optional(hostSni, ''),
  host: v.optional(hostHeader, ''),
  path: v.optional(hostPath, ''),
  fingerprint: v.optional(fingerprint, ''),
  enabled: v.optional(flag, true),
  formats: v.optional(formats, []),
})

const order = v.object({
  ids: v.pipe(v.array(rowId, 'must be a list of ids'), v.minLength(1, 'must not be empty')),
})

const ofNode = { code }
const ofHost = { code, id: rowId }

export const nodeHostOperations = adminOperations('Nodes', [
  operation(
    {
      method: 'get',
      path: '/nodes/{code}/hosts',
      scope: 'nodes:read',
      summary: 'The hosts of a node: where lists send apps instead of to the node itself',
      params: ofNode,
      ok: v.array(nodeHost),
    },
    async ({ s, params }) => {
      await nodeOf(s, params)
      return (await s.db.read((q) => readHosts(q, params.code))).map(nodeHostView)
    },
  ),
  operation(
    {
      method: 'post',
      path: '/nodes/{code}/hosts',
      scope: 'nodes:write',
      summary:
        'Add a host: with one that is switched on, a transport is reached by its hosts alone',
      confirmed: true,
      params: ofNode,
      body: creation,
      ok: nodeHost,
    },
    async ({ s, actor, params, body }) =>
      nodeHostView(await createHost(s, actor, params.code, await body())),
  ),
  operation(
    {
      method: 'post',
      path: '/nodes/{code}/hosts/order',
      scope: 'nodes:write',
      summary: 'Put the hosts of a node in this order; every one once',
      params: ofNode,
      body: order,
      ok,
    },
    async ({ s, actor, params, body }) => {
      await orderHosts(s, actor, params.code, (await body()).ids)
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'patch',
      path: '/nodes/{code}/hosts/{id}',
      scope: 'nodes:write',
      summary: 'Change a host; its transport stays',
      params: ofHost,
      body: edition,
      ok: nodeHost,
    },
    async ({ s, c, actor, params, body }) => {
      const place = { code: params.code, id: readId(params.id) }
      const confirmed = () => requireConfirmed(c)
      return nodeHostView(await editHost(s, actor, place, await body(), confirmed))
    },
  ),
  operation(
    {
      method: 'delete',
      path: '/nodes/{code}/hosts/{id}',
      scope: 'nodes:write',
      summary: 'Delete a host',
      params: ofHost,
      ok,
      refusals: [400],
    },
    async ({ s, actor, params }) => {
      await removeHost(s, actor, params.code, readId(params.id))
      return { ok: true }
    },
  ),
])
