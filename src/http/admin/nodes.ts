/** Nodes: list, create, change, order, delete, check, metrics, traffic. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { findNode, listNodes } from '#db/nodes.ts'
import { listRetired } from '#db/retired-nodes.ts'
import { address, clientId, flow, linkPart, nodeCode, port } from '#db/values.ts'
import { dailyTraffic } from '#src/domain/installation/stats.ts'
import { trustHostKey } from '#src/domain/nodes/host-keys.ts'
import {
  checkNode,
  createNode,
  editNode,
  nodeMetrics,
  orderNodes,
  removeNode,
} from '#src/domain/nodes/nodes.ts'
import { moveNode } from '#src/domain/subscriptions/moves.ts'
import { notFound } from '#src/lib/errors.ts'
import { formatMemory, formatUptime } from '#src/lib/format.ts'
import { flag, requiredLine, requiredText } from '#src/lib/values.ts'
import { requireConfirmed } from '../auth.ts'
import type { AppEnv, Http } from '../context.ts'
import { ordering, readJson, readQuery } from '../validate.ts'
import { nodeView, retiredNodeView } from '../views.ts'
import { seriesQuery } from './stats.ts'

/** As buttons and messages have it; what is stored may have more lines. */
const label = requiredLine(128)

/** Empty is none. */
const sharedUuid = v.nullable(
  v.pipe(
    v.string('must be a string'),
    v.trim(),
    v.transform((id) => id || null),
    v.nullable(clientId),
  ),
)

export const creation = v.object({
  code: nodeCode,
  label,
  kind: v.optional(
    v.picklist(['local', 'managed', 'external'], 'must be local, managed or external'),
    'external',
  ),
  address,
  port: v.optional(port, 443),
  public_key: linkPart,
  short_id: linkPart,
  sni: linkPart,
  flow: v.optional(flow, 'xtls-rprx-vision'),
  shared_uuid: v.optional(sharedUuid, null),
})

export const edition = v.object({
  label: v.optional(label),
  enabled: v.optional(flag),
  address: v.optional(address),
  port: v.optional(port),
  sni: v.optional(linkPart),
  public_key: v.optional(linkPart),
  short_id: v.optional(linkPart),
  flow: v.optional(flow),
  shared_uuid: v.optional(sharedUuid),
})

export const nodeOrder = ordering('node')

export const move = v.object({ to: v.string('must be a string') })

export const trust = v.object({ fingerprint: requiredText(100) })

export function nodeRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/', (c) => c.json(listNodes(s.db).map(nodeView)))
    .get('/retired', async (c) => c.json((await listRetired(s.db)).map(retiredNodeView)))
    .post('/', async (c) => {
      requireConfirmed(c)
      const { public_key, short_id, shared_uuid, ...rest } = await readJson(c, creation)
      const fields = { ...rest, publicKey: public_key, shortId: short_id, sharedUuid: shared_uuid }
      return c.json(nodeView(await createNode(s, c.get('actor'), fields)))
    })
    .post('/reorder', async (c) => {
      await orderNodes(s, c.get('actor'), (await readJson(c, nodeOrder)).codes)
      return c.json({ ok: true })
    })
    .patch('/:code', async (c) => {
      const code = c.req.param('code')
      if (!findNode(s.db, code)) throw notFound('node not found')
      const { public_key, short_id, shared_uuid, ...rest } = await readJson(c, edition)
      const changes = { ...rest, publicKey: public_key, shortId: short_id, sharedUuid: shared_uuid }
      const confirmed = () => requireConfirmed(c)
      return c.json(nodeView(await editNode(s, c.get('actor'), code, changes, confirmed)))
    })
    .delete('/:code', async (c) => {
      await removeNode(s, c.get('actor'), c.req.param('code'))
      return c.json({ ok: true })
    })
    .post('/:code/trust-host-key', async (c) => {
      const code = c.req.param('code')
      if (!findNode(s.db, code)) throw notFound('node not found')
      requireConfirmed(c)
      await trustHostKey(s, c.get('actor'), code, (await readJson(c, trust)).fingerprint)
      return c.json({ ok: true })
    })
    .post('/:code/move', async (c) => {
      const code = c.req.param('code')
      if (!findNode(s.db, code)) throw notFound('node not found')
      requireConfirmed(c)
      const { to } = await readJson(c, move)
      // 300,000 of them are a silence of minutes.
      c.env?.unhurried?.()
      return c.json({ moved: await moveNode(s, c.get('actor'), code, to) })
    })
    .post('/:code/check', async (c) =>
      c.json({ alive: await checkNode(s, c.get('actor'), c.req.param('code')) }),
    )
    .get('/:code/status', (c) => {
      const node = findNode(s.db, c.req.param('code'))
      if (!node) throw notFound('node not found')
      return c.json({ status: node.status, enabled: node.enabled })
    })
    .get('/:code/traffic', (c) => {
      const code = c.req.param('code')
      if (!findNode(s.db, code)) throw notFound('node not found')
      return c.json(dailyTraffic(s, code, readQuery(c, seriesQuery).days))
    })
    .get('/:code/metrics', async (c) => {
      const { ok, error, metrics: m } = await nodeMetrics(s, c.req.param('code'))
      const used = m?.memUsedMb ?? null
      const total = m?.memTotalMb ?? null
      const uptime = m?.uptimeS ?? null
      return c.json({
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
      })
    })
}
