/** A server of the lab driven by the panel's own code: our configurations, clients and lists, without a panel around them. */
import { join } from 'node:path'
import { listEntries } from '#src/domain/lists/entries.ts'
import { renderList } from '#src/domain/lists/formats.ts'
import { coreParameters } from '#src/domain/nodes/core-config.ts'
import { hysteriaParameters } from '#src/domain/nodes/hysteria-config.ts'
import { generateRealityKeys } from '#src/domain/nodes/install/keys.ts'
import { type SoundNode, soundUuid } from '#src/domain/nodes/sound.ts'
import { valuesOf } from '#src/domain/nodes/sync/values.ts'
import { nodeProgram } from '#src/integrations/nodes/program.ts'
import type { NodeShell } from '#src/integrations/nodes/shell.ts'
import { NodeError } from '#src/lib/errors.ts'
import type { Counters, NodeProgram } from '#src/ports/node-program.ts'
import type { Lab, Target } from '#test/support/labs/lab.ts'
import {
  type ClientCore,
  type EntryKind,
  FORMATS,
  runListClient,
} from '#test/support/labs/list-clients.ts'
import type { NodeServer } from '#test/support/labs/node-lab.ts'
import type { Client } from '#test/support/labs/service.ts'
import { unchecked } from '#test/support/unchecked.ts'
import { ROOT } from './process.ts'

export const OWNER = 'panel-1'
export const CALLER = { owner: OWNER, program: 2 }

export interface DrivenNode {
  row: SoundNode
  program: NodeProgram
  /** Gives both configurations. */
  configure(row?: SoundNode): Promise<void>
  add(...uuids: string[]): Promise<void>
  remove(...uuids: string[]): Promise<void>
  client(uuid: string, spoken: [ClientCore, EntryKind]): Client
}

/** A row as provisioning makes it, with every transport. */
export async function managedRow(server: NodeServer, target: Target): Promise<SoundNode> {
  const cert = server.certificate
  return {
    code: server.code,
    label: 'Node',
    kind: 'managed',
    address: server.address,
    port: 443,
    sni: target.serverName,
    flow: 'xtls-rprx-vision',
    shortId: '0123456789abcdef',
    ...(await generateRealityKeys()),
    sharedUuid: null,
    coreVersion: '26.7.28',
    hysteriaPort: 443,
    hysteriaPassword: 'the password of the node',
    hysteriaObfsPassword: 'the password of the disguise',
    transportsJson: [
      { type: 'ws', port: 8443, path: '/0123456789abcdef', cert },
      { type: 'xhttp', port: 443, path: '/fedcba9876543210' },
      { type: 'hysteria2', port: 443, cert },
    ],
  } as unknown as SoundNode
}

/** The node program of a server, run in its namespace as sshd would run it. */
export function labShell(lab: Lab, server: NodeServer): NodeShell {
  const program = join(ROOT, 'templates/node-agent.sh')
  return async (words, input, timeoutMs) => {
    const options = { machine: server.machine, input, timeoutMs, env: server.env }
    const { code, stdout, stderr } = await lab.exec('bash', [program, ...words], options)
    if (code !== 0 || stderr !== '')
      throw new NodeError('garbage', `${words[0]}: ${code} ${stderr}`)
    return stdout
  }
}

/** Drives a server that was booted, as a node with these changes. */
export async function driveNode(
  lab: Lab,
  server: NodeServer,
  target: Target,
  changes: Partial<SoundNode> = {},
): Promise<DrivenNode> {
  const program = nodeProgram(labShell(lab, server), '')
  const row = { ...(await managedRow(server, target)), ...changes } as SoundNode
  const apply = async (add: string[], remove: string[]) => {
    const valueFor = valuesOf(row, 2)
    const lines = add.map((uuid): [string, string] => [uuid, valueFor(uuid)])
    await program.apply({ ...CALLER, from: 'any', to: '', force: false, add: lines, remove })
  }
  return {
    row,
    program,
    async configure(wanted = row) {
      await program.configure(
        CALLER,
        coreParameters([wanted], () => target.address),
      )
      await program.hysteria(CALLER, hysteriaParameters(wanted))
    },
    add: (...uuids) => apply(uuids, []),
    remove: (...uuids) => apply([], uuids),
    client(uuid, spoken) {
      const options = { brandName: 'Lab', singboxVersion: '1.13.2', wsAndXhttp: true }
      const entries = listEntries([{ uuid: soundUuid(uuid), planLabel: unchecked(''), node: row }])
      return runListClient(lab, renderList(FORMATS[spoken[0]], entries, options), 'Node', spoken)
    },
  }
}

/** What a client has moved by these counters. */
export const bytesOf = (counters: Counters | undefined, uuid: string) => {
  const [, up = 0, down = 0] = counters?.find(([id]) => id === uuid) ?? []
  return { up, down }
}
