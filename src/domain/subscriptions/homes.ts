/** Where a subscription has its home, and with which group it may be there. */

import type { Reading, Steps } from '#db/engine/database.ts'
import { readMembers, readNodeGroup } from '#db/node-groups.ts'
import { isSoldNode, type Node, type NodeGroup } from '#db/schema/index.ts'
import { refusal } from '#src/refusals/index.ts'

/** The member of a group, other than `home`, that this machine's core serves as well: a client has one value there. */
const otherLocal = (home: Node, members: Node[]): Node | undefined =>
  home.kind === 'local'
    ? members.find(({ kind, code }) => kind === 'local' && code !== home.code)
    : undefined

/** Throws 400 for the code of a group that there is not. */
export function* requireGroup(tx: Reading, nodeGroup: string | null): Steps<void> {
  if (nodeGroup !== null && !(yield* readNodeGroup(tx, nodeGroup)))
    throw refusal('unknown-node-group')
}

/** Throws 400 for a group with which nothing can be sold. */
export function* requireSoldGroup(tx: Reading, nodeGroup: string | null): Steps<void> {
  yield* requireGroup(tx, nodeGroup)
  if (nodeGroup === null) return
  if (!(yield* readMembers(tx, nodeGroup)).some(isSoldNode)) {
    throw refusal('group-without-nodes')
  }
}

/** Throws 400 where a subscription with this group can't have this home. */
export function* requireOneLocal(tx: Reading, home: Node, nodeGroup: string | null): Steps<void> {
  if (nodeGroup === null || home.kind !== 'local') return
  if (otherLocal(home, yield* readMembers(tx, nodeGroup))) throw refusal('one-local-node')
}

/**
 * The home of what is granted or sold with a group, or with none: the node that was asked for, in the group or not, else the group's
 * first that is sold. Throws 400.
 */
export function* chooseHome(
  tx: Reading,
  nodeGroup: string | null,
  asked: Node | undefined,
): Steps<Node> {
  if (asked) {
    yield* requireOneLocal(tx, asked, nodeGroup)
    return asked
  }
  const members = nodeGroup === null ? [] : yield* readMembers(tx, nodeGroup)
  const home = members.find(isSoldNode)
  if (!home) throw refusal('group-without-nodes')
  return home
}

/** Home and group as they are given: what was frozen of an order outlives its group, and changes of its members. */
export function* settledHome(
  tx: Reading,
  home: Node,
  nodeGroup: string | null,
): Steps<{ home: Node; group: NodeGroup | undefined }> {
  const group = nodeGroup === null ? undefined : yield* readNodeGroup(tx, nodeGroup)
  if (!group) return { home, group }
  return { home: otherLocal(home, yield* readMembers(tx, group.code)) ?? home, group }
}
