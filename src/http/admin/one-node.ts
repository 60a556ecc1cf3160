/** One node: change, delete, move its subscriptions, check, metrics, traffic. */

import * as v from 'valibot'
import { readNode } from '#db/nodes.ts'
import { address, flow, linkPart, port, portRange, trafficRatio } from '#db/values.ts'
import { dailyTraffic } from '#src/domain/installation/stats.ts'
import { trustHostKey } from '#src/domain/nodes/host-keys.ts'
import { checkNode, editNode, nodeMetrics, removeNode } from '#src/domain/nodes/nodes.ts'
import { moveNode } from '#src/domain/subscriptions/moves.ts'
import { formatMemory, formatUptime } from '#src/lib/format.ts'
import { flag, requiredText } from '#src/lib/values.ts'
import { refusal } from '#src/refusals/index.ts'
import { requireConfirmed } from '../auth.ts'
import type { Http } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { code, ok } from '../schemas/fields.ts'
import {
  nodeMetrics as metrics,
  moved,
  node,
  nodeCheck,
  nodeState,
  nodeTraffic,
} from '../schemas/node.ts'
import { nodeView } from '../views.ts'
import { label, sharedUuid } from './nodes.ts'
import { seriesQuery } from './stats.ts'

const edition = v.object({
  label: v.optional(label),
  enabled: v.optional(flag),
  address: v.optional(address),
  port: v.optional(port),
  sni: v.optional(linkPart),
  public_key: v.optional(linkPart),
  short_id: v.optional(linkPart),
  flow: v.optional(flow),
  shared_uuid: v.optional(sharedUuid),
  traffic_ratio: v.optional(trafficRatio),
  hysteria_hop: v.optional(v.nullable(portRange)),
})

const move = v.object({ to: v.string('must be a string') })

const trust = v.object({ fingerprint: requiredText(100) })

const params = { code }

/** The node of a path. Throws 404. */
export async function nodeOf(s: Http, params: { code: string }) {
  const found = await s.db.read((q) => readNode(q, params.code))
  if (!found) throw refusal('node-not-found')
  return found
}

export const oneNodeOperations = adminOperations('Nodes', [
  operation(
    {
      method: 'patch',
      path: '/nodes/{code}',
      scope: 'nodes:write',
      summary: 'Change a node; of de1 only the label, and what of its traffic counts',
      params,
      body: edition,
      ok: node,
    },
    async ({ s, c, actor, params, body }) => {
      await nodeOf(s, params)
      const { public_key, short_id, shared_uuid, traffic_ratio, hysteria_hop, ...rest } =
        await body()
      const changes = {
        ...{ ...rest, publicKey: public_key, shortId: short_id, sharedUuid: shared_uuid },
        ...{ trafficRatio: traffic_ratio, hysteriaHop: hysteria_hop },
      }
      const confirmed = () => requireConfirmed(c)
      return nodeView(await editNode(s, actor, params.code, changes, confirmed))
    },
  ),
  operation(
    {
      method: 'delete',
      path: '/nodes/{code}',
      scope: 'nodes:write',
      summary: 'Delete a node that nobody needs any more',
      params,
      ok,
      refusals: [400],
    },
    async ({ s, actor, params }) => {
      await removeNode(s, actor, params.code)
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/nodes/{code}/move',
      scope: 'nodes:write',
      summary: 'Put all subscriptions of a node that are not revoked on another one',
      params,
      body: move,
      ok: moved,
    },
    async ({ s, c, actor, params, body }) => {
      await nodeOf(s, params)
      requireConfirmed(c)
      const { to } = await body()
      // 300,000 of them are a silence of minutes.
      c.env?.unhurried?.()
      return { moved: await moveNode(s, actor, params.code, to) }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/nodes/{code}/check',
      scope: 'nodes:write',
      summary: 'Whether the port of a node answers',
      params,
      ok: nodeCheck,
    },
    async ({ s, actor, params }) => ({ alive: await checkNode(s, actor, params.code) }),
  ),
  operation(
    {
      method: 'post',
      path: '/nodes/{code}/trust-host-key',
      scope: 'nodes:write',
      summary: 'Take the SSH host key that a node presented last for its own from now on',
      params,
      body: trust,
      ok,
      refusals: [400],
    },
    async ({ s, c, actor, params, body }) => {
      await nodeOf(s, params)
      requireConfirmed(c)
      await trustHostKey(s, actor, params.code, (await body()).fingerprint)
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/nodes/{code}/status',
      scope: 'nodes:read',
      summary: 'Whether a node is set up and enabled',
      params,
      ok: nodeState,
    },
    async ({ s, params }) => {
      const { status, enabled } = await nodeOf(s, params)
      return { status, enabled }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/nodes/{code}/metrics',
      scope: 'nodes:read',
      summary: 'Memory, uptime and core of a node',
      params,
      ok: metrics,
    },
    async ({ s, params }) => {
      const { ok, error, metrics: m } = await nodeMetrics(s, params.code)
      const used = m?.memUsedMb ?? null
      const total = m?.memTotalMb ?? null
      const uptime = m?.uptimeS ?? null
      return {
        ok,
        mem_total_mb: total,
        mem_used_mb: used,
        uptime_s: uptime,
        mem_fmt: formatMemory(used, total),
        uptime_fmt: formatUptime(uptime),
        ...(m && {
          core_version: m.coreVersion,
          core_up: m.coreUp,
          ...(m.hysteriaUp === null ? {} : { hysteria_up: m.hysteriaUp }),
          clients: m.clients,
          load1: m.load1,
          cpu_count: m.cpuCount,
        }),
        ...(error === null ? {} : { error }),
      }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/nodes/{code}/traffic',
      scope: 'nodes:read',
      summary: 'Traffic of a node day by day',
      params,
      query: seriesQuery,
      ok: nodeTraffic,
    },
    async ({ s, params, query }) => {
      await nodeOf(s, params)
      return dailyTraffic(s, params.code, query().days)
    },
  ),
])
