/** The values of a node's clients (services.ts, ClientMap). */
import type { Node } from '#db/schema.ts'
import { hasHysteria } from './hysteria-config.ts'
import { hysteriaAuth } from './list-entries.ts'

/** Passwords that were worked out before, by the node's own: those of 10,000 clients would take each pass 100 ms. */
const known = new Map<string, Map<string, string>>()
const NODES_KNOWN = 100
const CLIENTS_KNOWN = 50_000

function knownOf(password: string): Map<string, string> {
  const found = known.get(password) ?? new Map<string, string>()
  if (known.size >= NODES_KNOWN) known.clear()
  known.set(password, found)
  return found
}

/** Gives each client of a node its value: the group, and the Hysteria2 password where the node has Hysteria2. */
export function valuesOf(node: Node): (uuid: string) => string {
  const password = node.hysteriaPassword
  if (!password || !hasHysteria(node)) return () => node.code
  const auths = knownOf(password)
  return (uuid) => {
    let auth = auths.get(uuid)
    if (auth === undefined) {
      auth = hysteriaAuth(password, uuid)
      if (auths.size >= CLIENTS_KNOWN) auths.clear()
      auths.set(uuid, auth)
    }
    return `${node.code} ${auth}`
  }
}
