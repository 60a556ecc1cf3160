/** How nodes are set up: the guide for a new one, and its command once more. */
import * as v from 'valibot'
import { port } from '#db/values.ts'
import { DEFAULT_SNI, guideNode, reissueCommand } from '#src/domain/nodes/install/guide.ts'
import { addressOf, hostNameOf } from '#src/lib/host-name.ts'
import { asRead, flag, requiredLine } from '#src/lib/values.ts'
import { requireConfirmed } from '../auth.ts'
import { adminOperations, operation } from '../operation.ts'
import { code } from '../schemas/fields.ts'
import { installCommand, newInstallCommand } from '../schemas/node.ts'

const guide = v.object({
  label: requiredLine(128),
  address: asRead(addressOf, 'must be a host name or an IP address'),
  port: v.optional(port, 443),
  sni: v.optional(asRead(hostNameOf, 'must be a host name'), DEFAULT_SNI),
  include_ws: v.optional(flag, false),
  include_xhttp: v.optional(flag, false),
  include_grpc: v.optional(flag, false),
  include_hysteria2: v.optional(flag, false),
  hysteria_port: v.optional(port, 443),
})

export const provisioningOperations = adminOperations('Nodes', [
  operation(
    {
      method: 'post',
      path: '/nodes/provision-guide',
      scope: 'install:write',
      summary: 'Prepare a node and get the command that sets its server up',
      confirmed: true,
      body: guide,
      ok: installCommand,
    },
    async ({ s, actor, body }) => {
      const wanted = await body()
      const { label, address, port, sni } = wanted
      return guideNode(s, actor, {
        ...{ label, address, port, sni },
        includeWs: wanted.include_ws,
        includeXhttp: wanted.include_xhttp,
        includeGrpc: wanted.include_grpc,
        includeHysteria2: wanted.include_hysteria2,
        hysteriaPort: wanted.hysteria_port,
      })
    },
  ),
  operation(
    {
      method: 'post',
      path: '/nodes/{code}/provision',
      scope: 'install:write',
      summary: 'Get the install command of a managed node anew; the old one stops',
      params: { code },
      ok: newInstallCommand,
      refusals: [400],
    },
    ({ s, c, actor, params }) => reissueCommand(s, actor, params.code, () => requireConfirmed(c)),
  ),
])
