/** Nodes and their clients. */
import * as v from 'valibot'
import { creation, edition, move, nodeOrder, trust } from '#src/http/admin/nodes.ts'
import { guide } from '#src/http/admin/provisioning.ts'
import { seriesQuery, syncBody } from '#src/http/admin/stats.ts'
import { code, ok } from '#src/http/schemas/fields.ts'
import {
  installCommand,
  moved,
  newInstallCommand,
  node,
  nodeCheck,
  nodeMetrics,
  nodeState,
  nodeTraffic,
  retiredNode,
  syncReport,
} from '#src/http/schemas/node.ts'
import { adminOperations } from './operation.ts'

const params = { code }

export const nodeOperations = adminOperations('Nodes', [
  { method: 'get', path: '/nodes', summary: 'List the nodes in their order', ok: v.array(node) },
  { method: 'post', path: '/nodes', summary: 'Add a node', body: creation, ok: node },
  {
    method: 'get',
    path: '/nodes/retired',
    summary: 'Deleted nodes whose server is still to be cleaned',
    ok: v.array(retiredNode),
  },
  {
    method: 'post',
    path: '/nodes/reorder',
    summary: 'Put the nodes in this order; every one once',
    body: nodeOrder,
    ok,
  },
  {
    method: 'post',
    path: '/nodes/provision-guide',
    summary: 'Prepare a node and get the command that sets its server up',
    body: guide,
    ok: installCommand,
  },
  {
    method: 'post',
    path: '/nodes/{code}/provision',
    summary: 'Get the install command of a managed node anew; the old one stops',
    params,
    ok: newInstallCommand,
    refusals: [400],
  },
  {
    method: 'patch',
    path: '/nodes/{code}',
    summary: 'Change a node; of de1 only the label',
    params,
    body: edition,
    ok: node,
  },
  {
    method: 'delete',
    path: '/nodes/{code}',
    summary: 'Delete a node that nobody needs any more',
    params,
    ok,
    refusals: [400],
  },
  {
    method: 'post',
    path: '/nodes/{code}/move',
    summary: 'Put all subscriptions of a node that are not revoked on another one',
    params,
    body: move,
    ok: moved,
  },
  {
    method: 'post',
    path: '/nodes/{code}/check',
    summary: 'Whether the port of a node answers',
    params,
    ok: nodeCheck,
  },
  {
    method: 'post',
    path: '/nodes/{code}/trust-host-key',
    summary: 'Take the SSH host key that a node presented last for its own from now on',
    params,
    body: trust,
    ok,
    refusals: [400],
  },
  {
    method: 'get',
    path: '/nodes/{code}/status',
    summary: 'Whether a node is set up and enabled',
    params,
    ok: nodeState,
  },
  {
    method: 'get',
    path: '/nodes/{code}/metrics',
    summary: 'Memory, uptime and core of a node',
    params,
    ok: nodeMetrics,
  },
  {
    method: 'get',
    path: '/nodes/{code}/traffic',
    summary: 'Traffic of a node day by day',
    params,
    query: seriesQuery,
    ok: nodeTraffic,
  },
  {
    method: 'post',
    path: '/sync',
    summary: 'Make the clients of all nodes equal to the active subscriptions now',
    body: syncBody,
    bodyOptional: true,
    ok: syncReport,
  },
])
