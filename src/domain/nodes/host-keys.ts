/** Which SSH host key a node is known by: pinned from its registration, else on first use; another one is refused until an admin trusts it. */

import type { Query } from '#db/engine/database.ts'
import { keptNodes, readNode, updateNode } from '#db/nodes.ts'
import { readManaged } from '#db/retired-nodes.ts'
import { isSetUp, type Node } from '#db/schema/index.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { alert, alertState, forgetStates } from '#src/domain/notify/alerts.ts'
import { fingerprintOf, splitHostKeys } from '#src/lib/host-key.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { nodeStates } from './alerts.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config' | 'log' | 'writeKnownHosts'>

/** The pinned keys of a node; none before its first connection. */
export const pinnedKeys = (s: Pick<Services, 'db'>, code: string): string[] =>
  splitHostKeys(keptNodes(s.db).find((node) => node.code === code)?.hostKey ?? null)

/**
 * The nodes that are known by one of these keys already, this one aside. Two nodes with one key are one server, or one that passes its
 * connections on to the other's: driving it as its own node would cut the other's customers off.
 */
export function* readOthersOf(tx: Query, code: string, keys: string[]) {
  const managed = yield* readManaged(tx)
  return managed.filter(
    (other) =>
      other.code !== code &&
      isSetUp(other) &&
      splitHostKeys(other.hostKey).some((key) => keys.includes(key)),
  )
}

/** Makes these keys the only ones that the node is known by. `writeKnownHosts` is to follow the commit. */
export function* pinHostKeys(tx: Query, code: string, keys: string[]) {
  yield* updateNode(tx, code, { hostKey: keys.join('\n'), presentedHostKey: null })
  yield* forgetStates(tx, [nodeStates(code).hostKey])
}

/** Notes a key that is none of the pinned ones, and alerts once. */
function* refuse(tx: Query, s: Deps, node: Node, key: string, at: string) {
  if (node.presentedHostKey !== key) {
    yield* updateNode(tx, node.code, { presentedHostKey: key })
  }
  yield* alertState(tx, s, at, {
    name: nodeStates(node.code).hostKey,
    begins: true,
    alert: { about: 'host-key-changed', node: node.label },
  })
}

/**
 * Whether the server that presents this key is the node. The first key is pinned; of two processes that meet one at the same
 * time the first wins, and the other compares.
 */
export async function admitHostKey(s: Deps, code: string, key: string): Promise<boolean> {
  const at = formatTimestamp(s.clock.now())
  const known = await s.db.read((q) => readNode(q, code))
  if (known && known.presentedHostKey === null && splitHostKeys(known.hostKey).includes(key)) {
    return true
  }
  const outcome = await s.db.tx(function* (tx) {
    const node = yield* readNode(tx, code)
    if (!node) return 'refused'
    const pinned = splitHostKeys(node.hostKey)
    if (pinned.includes(key)) {
      yield* pinHostKeys(tx, code, pinned)
      return 'known'
    }
    if (pinned.length > 0 || (yield* readOthersOf(tx, code, [key])).length > 0) {
      yield* refuse(tx, s, node, key, at)
      return node.presentedHostKey === key ? 'refused' : 'changed'
    }
    yield* pinHostKeys(tx, code, [key])
    return 'pinned'
  })
  const fingerprint = fingerprintOf(key)
  if (outcome === 'changed') s.log.warn('a node has another host key', { node: code, fingerprint })
  if (outcome === 'pinned') {
    s.log.info('host key pinned on first use', { node: code, fingerprint })
    await s.writeKnownHosts()
  }
  return outcome === 'known' || outcome === 'pinned'
}

/**
 * Makes the key that was presented last the pinned one, when it has this fingerprint. Throws 404 for an unknown node, 400 where
 * there is no such key.
 */
export async function trustHostKey(
  s: Deps & Pick<Services, 'cores' | 'nodeSync' | 'background'>,
  actor: Actor,
  code: string,
  fingerprint: string,
): Promise<void> {
  const at = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const node = yield* readNode(tx, code)
    if (!node) throw refusal('node-not-found')
    const key = node.presentedHostKey
    if (key === null) throw refusal('no-other-host-key')
    if (fingerprintOf(key) !== fingerprint) {
      throw fieldRefusal('fingerprint', 'fingerprint-of-another-key')
    }
    const [other] = yield* readOthersOf(tx, code, [key])
    if (other) throw refusal('host-key-of-another-node', { label: other.label })
    yield* pinHostKeys(tx, code, [key])
    yield* audit(tx, actor, at, {
      action: 'node.trust-host-key',
      object: code,
      detail: fingerprint,
    })
    const about = 'host-key-trusted'
    yield* alert(tx, s, at, { about, node: node.label, fingerprint, ...actor })
  })
  await s.writeKnownHosts()
  s.cores.forget(code)
  s.background.run('sync after a host key was trusted', () =>
    s.nodeSync.syncAll({ force: false, remove: false }),
  )
}
