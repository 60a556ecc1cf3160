/** The install script of one node: the template with everything that this node needs, quoted for the shell. */

import { readManagementKey } from '#db/management-key.ts'
import { readNodeByToken } from '#db/nodes.ts'
import type { Node } from '#db/schema/index.ts'
import type { Transport } from '#db/transport.ts'
import { servedNodes } from '#src/domain/nodes/core-config.ts'
import { type SoundNode, soundNode, soundRow } from '#src/domain/nodes/sound.ts'
import { configurationsOf, PRESENT_PROGRAM } from '#src/domain/nodes/sync/programs.ts'
import { ARCHS, type Arch } from '#src/lib/elf.ts'
import { base64, utf8 } from '#src/lib/encoding.ts'
import { hostNameOf } from '#src/lib/host-name.ts'
import { shellQuote } from '#src/lib/shell-quote.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { CoreProgram } from '#src/ports/install-files.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { DEFAULT_SNI } from './guide.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config' | 'nodeSync' | 'installFiles' | 'instanceId'>

/** What the panel waits for a node's counters before it hands out a script that may start the node's cores anew. */
const READ_MS = 2000

/** A placeholder stands between single quotes, so that the template is a script as well. */
const PLACEHOLDER = /'\{\{([A-Z0-9_]+)\}\}'/g

/** The template with its placeholders replaced by quoted values. Throws for one that has no value. */
export function fillScript(template: string, values: Record<string, string>): string {
  return template.replace(PLACEHOLDER, (_all, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`the install script has an unknown value ${name}`)
    return shellQuote(value)
  })
}

const encoded = (text: string) => base64(utf8(text))

/** Whether a transport has a port and a certificate of its own: it is not behind REALITY. */
const isOnItsOwn = ({ type }: Transport) => type !== 'xhttp' && type !== 'grpc'

/** The ports that the node's cores listen on, `PORT/PROTOCOL` each. */
function portsOf(node: Node): string[] {
  // What is behind REALITY has the node's own port, whichever that is by now.
  const ports = node.transportsJson
    .filter(isOnItsOwn)
    .map(({ type, port }) => `${port}/${type === 'hysteria2' ? 'udp' : 'tcp'}`)
  return [...new Set([`${node.port}/tcp`, ...ports])]
}

async function digests(s: Deps, program: CoreProgram): Promise<Record<Arch, string>> {
  const found = await Promise.all(
    ARCHS.map(async (arch) => [arch, (await s.installFiles.digest(program, arch)) ?? ''] as const),
  )
  return Object.fromEntries(found) as Record<Arch, string>
}

async function valuesOf(s: Deps, node: SoundNode, token: string): Promise<Record<string, string>> {
  const { publicScheme, domains } = s.config
  const { agent, hysteriaAuth } = s.installFiles.scripts()
  const [xray, hysteria] = await Promise.all([digests(s, 'xray'), digests(s, 'hysteria')])
  const key = await s.db.read(readManagementKey)
  const sni = hostNameOf(node.sni) ?? DEFAULT_SNI
  const pinned = node.transportsJson.filter(isOnItsOwn)
  const { served } = servedNodes([node])
  const parameters = configurationsOf(PRESENT_PROGRAM, served, (one) => `${one.sni}:443`)
  return {
    PANEL_URL: `${publicScheme}://${domains.panel}`,
    TOKEN: token,
    CODE: node.code,
    OWNER: s.instanceId(),
    SNI: sni,
    PORTS: portsOf(node).join(' '),
    PINNED: pinned.map(({ type }) => type).join(' '),
    FRESH: node.provisioning === null ? '' : 'yes',
    MANAGEMENT_KEY: key ? soundRow('management_key', key).publicKey.trim() : '',
    XRAY_AMD64: xray.amd64,
    XRAY_ARM64: xray.arm64,
    HYSTERIA_AMD64: hysteria.amd64,
    HYSTERIA_ARM64: hysteria.arm64,
    AGENT: encoded(agent),
    HYSTERIA_AUTH: encoded(hysteriaAuth),
    XRAY_PARAMS: encoded(parameters.core),
    HYSTERIA_PARAMS: encoded(parameters.hysteria),
  }
}

/** The install script that a token stands for. Throws 404 for an unknown one. */
export async function installScript(s: Deps, token: string): Promise<string> {
  const node = await requireToken(s, token)
  // The script may start the cores anew, and they forget what they counted.
  if (node.provisioning !== 'first') await s.nodeSync.readNode(node.code, READ_MS)
  return fillScript(s.installFiles.scripts().install, await valuesOf(s, soundNode(node), token))
}

/** The node whose install command carries this token. Throws 404, the same for one that has run out. */
export async function requireToken(
  s: Pick<Services, 'db' | 'clock'>,
  token: string,
): Promise<Node> {
  const now = formatTimestamp(s.clock.now())
  const node = await s.db.read((q) => readNodeByToken(q, token, now))
  if (!node) throw refusal('not-found')
  return node
}
