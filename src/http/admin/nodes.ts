/** All nodes: list, create, order. */
import * as v from 'valibot'
import { listNodes } from '#db/nodes.ts'
import { listRetired } from '#db/retired-nodes.ts'
import { address, clientId, flow, linkPart, nodeCode, port } from '#db/values.ts'
import { createNode, orderNodes } from '#src/domain/nodes/nodes.ts'
import { requiredLine } from '#src/lib/values.ts'
import { adminOperations, operation } from '../operation.ts'
import { ok } from '../schemas/fields.ts'
import { node, retiredNode } from '../schemas/node.ts'
import { ordering } from '../validate.ts'
import { nodeView, retiredNodeView } from '../views.ts'

/** As buttons and messages have it; what is stored may have more lines. */
export const label = requiredLine(128)

/** Empty is none. */
export const sharedUuid = v.nullable(
  v.pipe(
    v.string('must be a string'),
    v.trim(),
    v.transform((id) => id || null),
    v.nullable(clientId),
  ),
)

const creation = v.object({
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

const nodeOrder = ordering('node')

export const nodesOperations = adminOperations('Nodes', [
  operation(
    {
      method: 'get',
      path: '/nodes',
      scope: 'nodes:read',
      summary: 'List the nodes in their order',
      ok: v.array(node),
    },
    async ({ s }) => (await s.db.read(listNodes)).map(nodeView),
  ),
  operation(
    {
      method: 'post',
      path: '/nodes',
      scope: 'nodes:write',
      summary: 'Add a node',
      confirmed: true,
      body: creation,
      ok: node,
    },
    async ({ s, actor, body }) => {
      const { public_key, short_id, shared_uuid, ...rest } = await body()
      const fields = { ...rest, publicKey: public_key, shortId: short_id, sharedUuid: shared_uuid }
      return nodeView(await createNode(s, actor, fields))
    },
  ),
  operation(
    {
      method: 'get',
      path: '/nodes/retired',
      scope: 'nodes:read',
      summary: 'Deleted nodes whose server is still to be cleaned',
      ok: v.array(retiredNode),
    },
    async ({ s }) => (await s.db.read(listRetired)).map(retiredNodeView),
  ),
  operation(
    {
      method: 'post',
      path: '/nodes/reorder',
      scope: 'nodes:write',
      summary: 'Put the nodes in this order; every one once',
      body: nodeOrder,
      ok,
    },
    async ({ s, actor, body }) => {
      await orderNodes(s, actor, (await body()).codes)
      return { ok: true }
    },
  ),
])
