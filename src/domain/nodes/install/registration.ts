/** A server reports what became of its installation: the node becomes active, or failed with the reason. */
import { X509Certificate } from 'node:crypto'
import type { Query } from '#db/engine/database.ts'
import { readNodeByToken, updateNode } from '#db/nodes.ts'
import type { Node } from '#db/schema/index.ts'
import type { Transport } from '#db/transport.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { readCertificate } from '#src/domain/nodes/certificates.ts'
import { pinHostKeys, readOthersOf } from '#src/domain/nodes/host-keys.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import { splitHostKeys } from '#src/lib/host-key.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { DAY_MS, formatTimestamp, later } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<
  Services,
  'db' | 'clock' | 'config' | 'background' | 'nodeSync' | 'cores' | 'writeKnownHosts' | 'nudge'
>

/** How long the script of an active node can still be fetched. */
const ACTIVE_TOKEN_LIFE_MS = DAY_MS

/** The account that the install script makes for the panel. */
const SSH_USER = 'subpanel'

export interface Report {
  status: 'active' | 'failed'
  /** Where the script ended, and why. */
  step?: string | undefined
  reason?: string | undefined
  core?: string | undefined
  sshPort?: number | undefined
  /** `type base64` each. */
  hostKeys: string[]
  certificates: { type: Transport['type']; cert: string }[]
}

/** A certificate as lists take it; null for a text that is none. */
export function certificateOf(pem: string): string | null {
  const block = readCertificate(pem)?.pem
  if (!block) return null
  try {
    return new X509Certificate(block).raw.length > 0 ? block : null
  } catch {
    return null
  }
}

const withCertificates = (transports: Transport[], certificates: Report['certificates']) =>
  transports.map((transport) => {
    const cert = certificates.find(({ type }) => type === transport.type)?.cert
    return cert === undefined ? transport : { ...transport, cert }
  })

/** Where a server is reached. */
type Place = Pick<Node, 'address' | 'sshPort'>

const placeOf = ({ address, sshPort }: Place, report: Report): Place => ({
  address,
  sshPort: report.sshPort ?? sshPort,
})

const isAt = (one: Place, { address, sshPort }: Place): boolean =>
  one.address === address && one.sshPort === sshPort

/** What a first activation, or one after the command was given out again, changes. Returns the nodes that had the server before. */
function* activate(tx: Query, node: Node, report: Report, at: Date) {
  yield* updateNode(tx, node.code, {
    status: 'active',
    provisioning: null,
    provisionExpiresAt: formatTimestamp(later(at, ACTIVE_TOKEN_LIFE_MS)),
    // Another node may have been disabled by an admin meanwhile.
    ...(node.provisioning === 'first' ? { enabled: true } : {}),
    ...omitUndefined({ coreVersion: report.core, sshPort: report.sshPort }),
    sshUser: SSH_USER,
    transportsJson: withCertificates(node.transportsJson, report.certificates),
    lastError: null,
  })
  if (report.hostKeys.length > 0) yield* pinHostKeys(tx, node.code, report.hostKeys)
  const keys = report.hostKeys.length > 0 ? report.hostKeys : splitHostKeys(node.hostKey)
  return yield* giveUpFormer(tx, node.code, placeOf(node, report), keys)
}

/** A node that has lost its server. */
type Former = Pick<Node, 'code' | 'label'>

/** Of nodes that an installation took the server from. */
export const SERVER_TAKEN =
  'its server became another node: set this one up on a server of its own, or move its users and delete it'

/**
 * Gives up the nodes that had this server before: two configurations for one server would be put in place by turns, each cutting off
 * the users of the other. They wait for a server as before their first one. The same address with another key is another server
 * behind it. Returns them.
 */
function* giveUpFormer(tx: Query, code: string, place: Place, keys: string[]) {
  const others = yield* readOthersOf(tx, code, keys)
  const former = others.filter((other) => isAt(other, place))
  for (const { code: other } of former) {
    const lost = { status: 'pending', lastSeenAt: null, lastError: SERVER_TAKEN } as const
    yield* updateNode(tx, other, lost)
  }
  return former
}

/** Throws 400 for a server that is known as another node at another place. */
function* requireOwnServer(tx: Query, node: Node, report: Report) {
  const others = yield* readOthersOf(tx, node.code, report.hostKeys)
  const other = others.find((one) => !isAt(one, placeOf(node, report)))
  if (!other) return
  const { label, address } = other
  throw refusal('server-of-another-node', { label, address })
}

function* fail(tx: Query, node: Node, { step, reason }: Report) {
  const what =
    step === undefined
      ? 'the install script failed'
      : `the install script failed at the step "${step}"`
  const lastError = reason === undefined ? what : `${what}: ${reason}`
  yield* updateNode(tx, node.code, { status: 'failed', lastError })
}

/**
 * Takes a server's report; without one only the token is checked. What an active node reports changes nothing unless its command was given
 * out again: who read the script once must not replace the server's keys. Throws 404 for an unknown token, 400 for a server that is another node.
 */
export async function registerNode(
  s: Deps,
  token: string,
  ip: string,
  report: Report | null,
): Promise<void> {
  const at = s.clock.now()
  const now = formatTimestamp(at)
  const actor: Actor = { admin: null, ip }
  const outcome = await s.db.tx(function* (tx) {
    const node = yield* readNodeByToken(tx, token, now)
    if (!node) throw refusal('not-found')
    if (report === null || node.provisioning === null) return { code: node.code, changed: [] }
    let former: Former[] = []
    if (report.status === 'active') {
      yield* requireOwnServer(tx, node, report)
      former = yield* activate(tx, node, report, at)
    } else yield* fail(tx, node, report)
    yield* audit(tx, actor, now, {
      action: report.status === 'active' ? 'node.register' : 'node.register-failed',
      object: node.code,
      ...(report.step === undefined ? {} : { detail: report.step }),
    })
    for (const { code, label } of former) {
      const detail = `node=${node.code}`
      yield* audit(tx, actor, now, { action: 'node.give-up', object: code, detail })
      yield* alert(tx, s, now, { about: 'server-taken', node: label, other: node.label, ...actor })
    }
    return { code: node.code, changed: [node.code, ...former.map(({ code }) => code)] }
  })
  if (report?.status !== 'active') return
  if (outcome.changed.length > 1) s.nudge('messages')
  if (outcome.changed.length > 0) await s.writeKnownHosts()
  for (const code of outcome.changed) s.cores.forget(code)
  // Also of a node whose script ran once more: its cores may have been started anew.
  s.background.run('sync after a registration', () =>
    s.nodeSync.syncAll({ force: false, remove: false, only: [outcome.code] }),
  )
}
