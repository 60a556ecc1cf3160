/** `known_hosts`: the pinned host keys of all nodes by the address where each is found. */
import { type Query, run } from './engine/database.ts'
import { asc } from './engine/orm.ts'
import { type KnownHost, knownHosts, nodes, retiredNodes } from './schema/index.ts'

/** Where servers are, with their pinned keys in lines: of nodes, then of deleted ones that are still to be cleaned. */
export function* readPinnedServers(tx: Query) {
  const columns = (t: typeof nodes | typeof retiredNodes) => ({
    address: t.address,
    sshPort: t.sshPort,
    hostKey: t.hostKey,
  })
  const present = yield* run(tx.select(columns(nodes)).from(nodes).orderBy(asc(nodes.code)))
  const retired = yield* run(
    tx.select(columns(retiredNodes)).from(retiredNodes).orderBy(asc(retiredNodes.code)),
  )
  return [...present, ...retired]
}

export function* readKnownHosts(tx: Query) {
  return yield* run(
    tx
      .select()
      .from(knownHosts)
      .orderBy(asc(knownHosts.host), asc(knownHosts.port), asc(knownHosts.keyType)),
  )
}

export function* replaceKnownHosts(tx: Query, rows: KnownHost[]) {
  yield* run(tx.delete(knownHosts))
  if (rows.length > 0) yield* run(tx.insert(knownHosts).values(rows))
}
