/** Groups of nodes: list, create, change, delete. */
import * as v from 'valibot'
import { countOfGroups, listMembers, listNodeGroups } from '#db/node-groups.ts'
import { groupCode, groupLabel, nodeCode, sortOrder } from '#db/values.ts'
import { requireGroupRules } from '#src/domain/lists/rule-watch.ts'
import { createNodeGroup, editNodeGroup, removeNodeGroup } from '#src/domain/nodes/groups.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { givenPreset } from '#src/lib/routing-presets.ts'
import { flag } from '#src/lib/values.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Http } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { code, ok } from '../schemas/fields.ts'
import { editedNodeGroup, nodeGroup } from '../schemas/node-group.ts'
import { nodeGroupView } from '../views.ts'

/** Of a group: each once, in no order. */
const members = v.pipe(
  v.array(nodeCode, 'must be a list of node codes'),
  v.maxLength(1000, 'must have at most 1000 codes'),
)

/** Null: as the settings of lists say. */
const routing = {
  routing_preset: v.optional(v.nullable(givenPreset)),
  routing_ads: v.optional(v.nullable(flag)),
}

const creation = v.object({
  label: groupLabel,
  nodes: members,
  code: v.optional(groupCode),
  sort_order: v.optional(sortOrder),
  hide_down: v.optional(flag),
  ...routing,
})

const edition = v.object({
  label: v.optional(groupLabel),
  nodes: v.optional(members),
  sort_order: v.optional(sortOrder),
  hide_down: v.optional(flag),
  ...routing,
})

const params = { code }

/** What a request brings as the rules take it. Throws 400 for a preset whose rule files can't be had. */
async function fieldsOf<B extends Partial<v.InferOutput<typeof edition>>>(
  s: Http,
  body: B,
  code?: string,
) {
  const { sort_order: sortOrder, hide_down: hideDown, ...others } = body
  const { routing_preset: routingPreset, routing_ads: routingAds, ...rest } = others
  const present = listNodeGroups(s.db).find((group) => group.code === code)
  await requireGroupRules(s, omitUndefined({ routingPreset, routingAds }), present)
  return { ...rest, sortOrder, hideDown, routingPreset, routingAds }
}

/** Gives the views of groups, with their members and how many have them. */
async function readGroupViews(s: Http) {
  const counts = await s.db.read(countOfGroups)
  const nodesOf = listMembers(s.db)
  return listNodeGroups(s.db).map((group) =>
    nodeGroupView(group, nodesOf.get(group.code) ?? [], counts.get(group.code) ?? 0),
  )
}

async function readGroupView(s: Http, wanted: string) {
  const found = (await readGroupViews(s)).find((group) => group.code === wanted)
  if (!found) throw refusal('node-group-not-found')
  return found
}

export const nodeGroupOperations = adminOperations('Nodes', [
  operation(
    {
      method: 'get',
      path: '/node-groups',
      scope: 'nodes:read',
      summary: 'List the groups of nodes in their order',
      ok: v.array(nodeGroup),
    },
    ({ s }) => readGroupViews(s),
  ),
  operation(
    {
      method: 'post',
      path: '/node-groups',
      scope: 'nodes:write',
      summary: 'Add a group of nodes; its code is made of its label where none is given',
      body: creation,
      ok: nodeGroup,
    },
    async ({ s, actor, body }) => {
      const group = await createNodeGroup(s, actor, await fieldsOf(s, await body()))
      return readGroupView(s, group.code)
    },
  ),
  operation(
    {
      method: 'get',
      path: '/node-groups/{code}',
      scope: 'nodes:read',
      summary: 'A group of nodes',
      params,
      ok: nodeGroup,
    },
    ({ s, params }) => readGroupView(s, params.code),
  ),
  operation(
    {
      method: 'patch',
      path: '/node-groups/{code}',
      scope: 'nodes:write',
      summary:
        'Change a group; whoever has it is served on its new members, and no more on those that left',
      params,
      body: edition,
      ok: editedNodeGroup,
    },
    async ({ s, actor, params, body }) => {
      const changes = await fieldsOf(s, await body(), params.code)
      const sync = await editNodeGroup(s, actor, params.code, changes)
      return { ...(await readGroupView(s, params.code)), sync }
    },
  ),
  operation(
    {
      method: 'delete',
      path: '/node-groups/{code}',
      scope: 'nodes:write',
      summary: 'Delete a group that nothing names',
      params,
      ok,
      refusals: [400],
    },
    async ({ s, actor, params }) => {
      await removeNodeGroup(s, actor, params.code)
      return { ok: true }
    },
  ),
])
