/** The pass over all nodes by hand. */
import * as v from 'valibot'
import { syncNow } from '#src/domain/nodes/nodes.ts'
import { flag } from '#src/lib/values.ts'
import { adminOperations, operation } from '../operation.ts'
import { syncReport } from '../schemas/node.ts'

export const syncOperations = adminOperations('Nodes', [
  operation(
    {
      method: 'post',
      path: '/sync',
      scope: 'nodes:write',
      summary: 'Make the clients of all nodes equal to the active subscriptions now',
      body: v.object({ force: v.optional(flag, false) }),
      bodyOptional: true,
      ok: syncReport,
    },
    async ({ s, actor, body }) => {
      const { force } = await body()
      const nodes = await syncNow(s, actor, force)
      return { ok: nodes.every((node) => node.ok), nodes }
    },
  ),
])
