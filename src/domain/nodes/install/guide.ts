/** How a server becomes a node: a pending node with all its keys, and the command that an operator runs there. */

import { insertNode, readNode, readNodeCodes, updateNode } from '#db/nodes.ts'
import type { Node } from '#db/schema/index.ts'
import type { Transport } from '#db/transport.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { coreRefusal } from '#src/domain/nodes/core-config.ts'
import { LOCAL_NODE } from '#src/domain/nodes/local-node.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import { requireRoom } from '#src/domain/room.ts'
import { hostNameOf } from '#src/lib/host-name.ts'
import { randomHex, randomToken } from '#src/lib/random.ts'
import { shellQuote } from '#src/lib/shell-quote.ts'
import { slugOf } from '#src/lib/slug.ts'
import { DAY_MS, formatTimestamp, later } from '#src/lib/time.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { generateRealityKeys } from './keys.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config'>

/** The site whose name a node borrows unless it is told another. */
export const DEFAULT_SNI = 'dl.google.com'

const VISION = 'xtls-rprx-vision'
const TOKEN_LIFE_MS = 7 * DAY_MS
/** Ports that a CDN passes on too, so that a node can be put behind one later. */
const WS_PORTS = [8443, 2053, 2083, 2087]
const CODE_LENGTH = 24

export interface Guide {
  label: string
  address: string
  port: number
  sni: string
  includeWs: boolean
  includeXhttp: boolean
  includeGrpc: boolean
  includeHysteria2: boolean
  hysteriaPort: number
}

/** What an operator runs on the server, as root. */
export interface InstallCommand {
  code: string
  command: string
}

/** One that was given out anew, with the timestamp until which it works: clients tell it from others by that. */
export interface NewInstallCommand extends InstallCommand {
  provision_expires_at: string
}

/**
 * One line for sh and bash. A bare Debian has no curl; without a certificate store curl would trust nobody. The address is no argument
 * of curl: those can be read by every user of the server, and with the token another server can be reported in this one's place.
 */
function installCommand(s: Pick<Services, 'config'>, token: string): string {
  const { publicScheme, domains } = s.config
  const url = shellQuote(`url=${publicScheme}://${domains.panel}/install/${token}.sh`)
  const fetching =
    '{ apt-get update -q; apt-get install -yq --no-install-recommends curl ca-certificates; } </dev/null'
  return `command -v curl >/dev/null || ${fetching}; echo ${url} | curl -fsSLK- | bash`
}

/** The first of `slug`, `slug-2`, `slug-3`… that no node has, and never the local node's. */
function freeCode(slug: string, taken: Set<string>): string {
  for (let number = 1; ; number++) {
    const end = number === 1 ? '' : `-${number}`
    const code = `${slug.slice(0, CODE_LENGTH - end.length).replace(/-+$/, '')}${end}`
    if (!taken.has(code)) return code
  }
}

const randomPath = () => `/${randomHex(8)}`

function transportsOf(guide: Guide): Transport[] {
  const wsPort = WS_PORTS.find((port) => port !== guide.port) as number
  return [
    ...(guide.includeWs ? [{ type: 'ws', port: wsPort, path: randomPath() } as const] : []),
    // Behind the port of REALITY, by fallbacks.
    ...(guide.includeXhttp
      ? [{ type: 'xhttp', port: guide.port, path: randomPath() } as const]
      : []),
    ...(guide.includeGrpc
      ? [{ type: 'grpc', port: guide.port, service_name: randomHex(8) } as const]
      : []),
    ...(guide.includeHysteria2 ? [{ type: 'hysteria2', port: guide.hysteriaPort } as const] : []),
  ]
}

/** A new token with which the install script can be fetched for 7 days. */
function issueToken(now: Date) {
  return {
    provisionToken: randomToken(),
    provisionExpiresAt: formatTimestamp(later(now, TOKEN_LIFE_MS)),
  }
}

/**
 * Creates a pending node that is not offered yet, with keys and transports of its own. Gives the command that sets it up. Throws 400
 * for two transports behind one port.
 */
export async function guideNode(s: Deps, actor: Actor, guide: Guide): Promise<InstallCommand> {
  if (guide.includeXhttp && guide.includeGrpc) throw refusal('grpc-and-xhttp')
  const at = s.clock.now()
  const now = formatTimestamp(at)
  const keys = await generateRealityKeys()
  const token = issueToken(at)
  const hysteria = guide.includeHysteria2
    ? {
        hysteriaPort: guide.hysteriaPort,
        hysteriaPassword: randomToken(),
        hysteriaObfsPassword: randomToken(),
      }
    : {}
  const { label, address, port, sni } = guide
  const code = await s.db.tx(function* (tx) {
    yield* requireRoom(tx, 'nodes')
    const taken = new Set([...(yield* readNodeCodes(tx)).map(lowerCase), LOCAL_NODE])
    const node = yield* insertNode(tx, {
      code: freeCode(slugOf(label, CODE_LENGTH) || 'node', taken),
      ...{ label, address, port, sni, ...keys, ...token, ...hysteria },
      kind: 'managed',
      status: 'pending',
      provisioning: 'first',
      enabled: false,
      shortId: randomHex(8),
      flow: VISION,
      transportsJson: transportsOf(guide),
      createdAt: now,
    })
    yield* audit(tx, actor, now, { action: 'node.provision', object: node.code })
    return node.code
  })
  return { code, command: installCommand(s, token.provisionToken) }
}

const lowerCase = (text: string) => text.toLowerCase()

type RealityKeys = Awaited<ReturnType<typeof generateRealityKeys>>

/** What a node that was made by hand lacks for being set up by the script. */
function missingParts(node: Node, keys: RealityKeys): Partial<Node> {
  return {
    ...(node.privateKey === '' ? keys : {}),
    ...(node.sni === '' ? { sni: DEFAULT_SNI } : {}),
    ...(node.shortId === '' || coreRefusal(node) !== null
      ? { shortId: randomHex(8), flow: VISION }
      : {}),
  }
}

/** Throws 404, or 400 for a node that the script can't set up. */
function requireInstallable(node: Node | undefined): Node {
  if (!node) throw refusal('node-not-found')
  if (node.kind !== 'managed') throw refusal('not-a-managed-node')
  if (node.sni !== '' && hostNameOf(node.sni) === null) throw fieldRefusal('sni', 'not-a-host-name')
  return node
}

/**
 * Gives the install command of a managed node anew; the old one stops. The node stays as it is until the new one was run,
 * but that one whose set-up has failed waits again. With the command go the node's private keys, and its place: `confirmed` throws
 * where that is not let happen. It is told of a node that has been set up. Throws 404, or 400 for a node that the script can't set up.
 */
export async function reissueCommand(
  s: Deps,
  actor: Actor,
  code: string,
  confirmed: () => void,
): Promise<NewInstallCommand> {
  const at = s.clock.now()
  const now = formatTimestamp(at)
  const token = issueToken(at)
  // Made beforehand: nothing is awaited inside a transaction.
  const keys = await generateRealityKeys()
  await s.db.tx(function* (tx) {
    const node = requireInstallable(yield* readNode(tx, code))
    confirmed()
    // Not by whether it is set up now: a report of another node may have taken its server. One that was made by hand has no keys yet.
    const first = node.provisioning === 'first'
    const live = !first && node.privateKey !== ''
    yield* updateNode(tx, code, {
      ...token,
      ...missingParts(node, keys),
      provisioning: first ? 'first' : 'again',
      // A failure is that of the command before.
      ...(first || node.status === 'failed' ? { status: 'pending', lastError: null } : {}),
    })
    yield* audit(tx, actor, now, { action: 'node.provision', object: code })
    if (live) yield* alert(tx, s, now, { about: 'command-reissued', node: node.label, ...actor })
  })
  return {
    code,
    command: installCommand(s, token.provisionToken),
    provision_expires_at: token.provisionExpiresAt,
  }
}
