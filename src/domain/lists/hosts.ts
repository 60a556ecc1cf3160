/** Hosts of nodes as an admin manages them: where lists send apps instead of to the node itself. */

import type { Query } from '#db/engine/database.ts'
import { deleteHost, insertHost, readHosts, reorderHosts, updateHost } from '#db/node-hosts.ts'
import { readNode } from '#db/nodes.ts'
import type { Node, NodeHost } from '#db/schema/index.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { soundNode, soundPlanLabel, soundRow, soundUuid } from '#src/domain/nodes/sound.ts'
import { checkOrder } from '#src/domain/ordering.ts'
import { requireRoom } from '#src/domain/room.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { listEntries } from './entries.ts'
import { LIST_FORMATS, type ListFormat, usableEntries } from './formats.ts'
import { offersOf } from './ways.ts'

type Deps = Pick<Services, 'db' | 'clock'>

/** All of them are gone through for each list. */
const MOST_OF_NODE = 50

/** What an admin says of a host; its transport stays. */
export type HostFields = Omit<NodeHost, 'id' | 'node' | 'sortOrder'>
type HostChanges = { [K in keyof Omit<HostFields, 'transport'>]?: HostFields[K] | undefined }

/** The fields that say nothing of a transport. */
const MEANINGLESS = {
  reality: ['host', 'path'],
  ws: [],
  xhttp: [],
  grpc: ['host', 'path'],
  hysteria2: ['host', 'path', 'fingerprint'],
} as const satisfies Record<NodeHost['transport'], readonly (keyof HostFields)[]>

/** Where the apps of customers are sent, and to whom they believe to speak. */
const PLACE = ['address', 'port', 'sni', 'host', 'path'] as const

/** Each list that an app may read. */
const LISTS: { format: ListFormat; wsAndXhttp: boolean }[] = [
  ...LIST_FORMATS.map((format) => ({ format, wsAndXhttp: true })),
  { format: 'base64', wsAndXhttp: false },
]

/** The lists that have an entry of the node with these hosts. */
function listsWith(node: Node, hosts: NodeHost[]) {
  const source = {
    uuid: soundUuid('00000000-0000-4000-8000-000000000000'),
    planLabel: soundPlanLabel('plan'),
    node: soundNode(node),
    hosts: hosts.length === 0 ? undefined : hosts.map((row) => soundRow('node_hosts', row)),
  }
  return LISTS.filter(
    (list) => usableEntries(list.format, listEntries([source], list.format), list).length > 0,
  )
}

/** Throws 400 for hosts by which a list loses all that it has of the node. */
function checkLists(node: Node, hosts: NodeHost[]): void {
  const enabled = hosts.filter((host) => host.enabled)
  if (enabled.length === 0) return
  const left = listsWith(node, enabled)
  const lost = listsWith(node, []).filter((list) => !left.includes(list))
  if (lost.length === 0) return
  const formats = [...new Set(lost.map(({ format }) => format))].join(', ')
  throw refusal('hosts-leave-apps-out', { formats })
}

/** Throws 400 for a transport that the node does not have, and for fields that say nothing of it. */
function checkFields(node: Node, host: HostFields): void {
  const { transport } = host
  if (!offersOf(node).some(({ type }) => type === transport)) {
    throw fieldRefusal('transport', 'not-of-node')
  }
  const wrong = MEANINGLESS[transport].find((field) => host[field] !== '')
  if (wrong !== undefined) throw fieldRefusal(wrong, 'not-of-transport', { transport })
  // A node of ours is known by its own name alone: REALITY lets in by no other, and its certificate says no other.
  const isWeb = transport === 'ws' || transport === 'xhttp'
  if (node.kind !== 'external' && !isWeb && host.sni !== '' && host.sni !== node.sni) {
    throw fieldRefusal('sni', 'not-of-transport', { transport })
  }
}

/** The node of this code with its hosts. Throws 404. */
function* readPlace(tx: Query, code: string) {
  const node = yield* readNode(tx, code)
  if (!node) throw refusal('node-not-found')
  return { node, hosts: yield* readHosts(tx, code) }
}

/** The same with one of the hosts. Throws 404. */
function* readOne(tx: Query, code: string, id: number | null) {
  const { node, hosts } = yield* readPlace(tx, code)
  const host = hosts.find((one) => one.id === id)
  if (!host) throw refusal('host-not-found')
  return { node, host, others: hosts.filter((one) => one !== host) }
}

const described = ({ transport, address, port }: HostFields) =>
  [transport, address, port === null ? '' : `port ${port}`].filter(Boolean).join(' ')

/** Adds a host behind the others of its node. Throws 404, or 400 for what no app could use. */
export async function createHost(
  s: Deps,
  actor: Actor,
  code: string,
  fields: HostFields,
): Promise<NodeHost> {
  const now = formatTimestamp(s.clock.now())
  return s.db.tx(function* (tx) {
    const { node, hosts } = yield* readPlace(tx, code)
    yield* requireRoom(tx, 'node_hosts')
    if (hosts.length >= MOST_OF_NODE) {
      throw refusal('too-many-rows', { most: MOST_OF_NODE, kind: 'hosts of a node' })
    }
    checkFields(node, fields)
    const host = yield* insertHost(tx, { ...fields, node: code })
    checkLists(node, [...hosts, host])
    yield* audit(tx, actor, now, { action: 'host.create', object: code, detail: described(host) })
    return host
  })
}

/** Changes a host. `confirmed` throws where customers may not be sent elsewhere. Throws 404, or 400. */
export async function editHost(
  s: Deps,
  actor: Actor,
  { code, id }: { code: string; id: number | null },
  changes: HostChanges,
  confirmed: () => void,
): Promise<NodeHost> {
  const now = formatTimestamp(s.clock.now())
  const fields = omitUndefined(changes)
  return s.db.tx(function* (tx) {
    const { node, host, others } = yield* readOne(tx, code, id)
    const keys = Object.keys(fields)
    if (keys.length === 0) return host
    const future = { ...host, ...fields }
    if (PLACE.some((key) => future[key] !== host[key])) confirmed()
    checkFields(node, future)
    checkLists(node, [...others, future])
    const detail = `${described(future)}: ${keys.join(' ')}`
    yield* audit(tx, actor, now, { action: 'host.edit', object: code, detail })
    return yield* updateHost(tx, host.id, fields)
  })
}

/** Deletes a host. Throws 404, or 400 where the others would leave a list without the node. */
export async function removeHost(
  s: Deps,
  actor: Actor,
  code: string,
  id: number | null,
): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const { node, host, others } = yield* readOne(tx, code, id)
    checkLists(node, others)
    yield* deleteHost(tx, host.id)
    yield* audit(tx, actor, now, { action: 'host.delete', object: code, detail: described(host) })
  })
}

/** Gives the hosts of a node a new order. Throws 404, or 400 unless `ids` names every one exactly once. */
export async function orderHosts(
  s: Deps,
  actor: Actor,
  code: string,
  ids: number[],
): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const { hosts } = yield* readPlace(tx, code)
    checkOrder(
      ids,
      hosts.map(({ id }) => id),
      'host',
      'ids',
    )
    yield* reorderHosts(tx, code, ids)
    yield* audit(tx, actor, now, { action: 'host.reorder', object: code })
  })
}
