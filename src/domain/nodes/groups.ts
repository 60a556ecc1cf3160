/** Groups of nodes as an admin manages them: whoever is sold with one is served on all its members. */

import type { Query } from '#db/engine/database.ts'
import { isUniqueViolation } from '#db/engine/failures.ts'
import {
  addMembers,
  deleteNodeGroup,
  hasHomeIn,
  hasUnexpiredOfGroup,
  insertNodeGroup,
  isGroupUsed,
  readGroupsOfNode,
  readMembers,
  readNodeGroup,
  rehomeSome,
  removeMembers,
  updateNodeGroup,
} from '#db/node-groups.ts'
import { listNodes, noteBehindIn } from '#db/nodes.ts'
import { isSoldNode, type NodeGroup } from '#db/schema/index.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { requireRoom } from '#src/domain/room.ts'
import { nextTurn } from '#src/lib/event-loop.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { randomHex } from '#src/lib/random.ts'
import type { RoutingPreset } from '#src/lib/routing-presets.ts'
import { slugOf } from '#src/lib/slug.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { NodeSyncResult } from '#src/ports/node-sync.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'nodeSync'>

/** How long an admin waits for the nodes; what they miss the scheduler does. */
const SYNC_MS = 5000
const READ_MS = 1500

/** Subscriptions that get another home in one transaction. */
const PORTION = 50

const MOST_CODE = 32

/** A code made of a label, as those of nodes are; of one that leaves nothing four bytes by chance. */
const codeOfLabel = (label: string): string => slugOf(label, MOST_CODE) || `group-${randomHex(4)}`

export interface GroupFields {
  label: string
  /** Codes of nodes. */
  nodes: string[]
  sortOrder?: number | undefined
  hideDown?: boolean | undefined
  /** What its lists leave direct; null: as the settings say. */
  routingPreset?: RoutingPreset | null | undefined
  routingAds?: boolean | null | undefined
}

/** The nodes that are to be a group's members. Throws 400 for what can't be one. */
function* readFutureMembers(tx: Query, codes: string[]) {
  const wanted = new Set(codes)
  const found = (yield* listNodes(tx)).filter(({ code }) => wanted.has(code))
  if (found.length < wanted.size) throw refusal('unknown-node')
  if (found.filter(({ kind }) => kind === 'local').length > 1) throw refusal('two-local-nodes')
  return found
}

/** Creates a group at the end of the display order unless it names its place. Throws 400. */
export async function createNodeGroup(
  s: Deps,
  actor: Actor,
  { nodes, code, ...fields }: GroupFields & { code?: string | undefined },
): Promise<NodeGroup> {
  const now = formatTimestamp(s.clock.now())
  try {
    return await s.db.tx(function* (tx) {
      yield* requireRoom(tx, 'node_groups')
      const members = yield* readFutureMembers(tx, nodes)
      const group = yield* insertNodeGroup(tx, {
        label: fields.label,
        ...omitUndefined({ sortOrder: fields.sortOrder }),
        hideDown: fields.hideDown ?? false,
        routingPreset: fields.routingPreset ?? null,
        routingAds: fields.routingAds ?? null,
        code: code ?? codeOfLabel(fields.label),
        createdAt: now,
      })
      const codes = members.map((node) => node.code)
      yield* addMembers(tx, group.code, codes)
      yield* audit(tx, actor, now, {
        action: 'group.create',
        object: group.code,
        detail: codes.join(' '),
      })
      return group
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw refusal('node-group-code-taken')
    throw error
  }
}

interface Edition {
  added: string[]
  removed: string[]
  /** The member that becomes the home of those whose home leaves. */
  heir: string | undefined
}

/** What an edition does to the members. Throws 404, or 400 for members that a group can't have. */
function* readEdition(tx: Query, code: string, nodes: string[] | undefined, now: string) {
  if (!(yield* readNodeGroup(tx, code))) throw refusal('node-group-not-found')
  const present = yield* readMembers(tx, code)
  const before = new Set(present.map((node) => node.code))
  const wanted = nodes === undefined ? present : yield* readFutureMembers(tx, nodes)
  const after = new Set(wanted.map((node) => node.code))
  const added = wanted.filter((node) => !before.has(node.code))
  for (const { kind, code: node } of added) {
    if (kind === 'local' && (yield* hasOtherLocalHome(tx, code, node)))
      throw refusal('one-local-node')
  }
  if (after.size === 0 && before.size > 0 && (yield* isGroupUsed(tx, code, now))) {
    throw refusal('group-without-nodes')
  }
  const removed = present.filter((node) => !after.has(node.code))
  // One that is sold, before others.
  const staying = present.filter((node) => after.has(node.code))
  const heirs = [...staying, ...added]
  return {
    added: added.map((node) => node.code),
    removed: removed.map((node) => node.code),
    heir: (heirs.find(isSoldNode) ?? heirs[0])?.code,
  } as Edition
}

/** Whether a subscription with this group has its home on another node of this machine. */
function* hasOtherLocalHome(tx: Query, group: string, node: string) {
  for (const { kind, code } of yield* listNodes(tx)) {
    if (kind === 'local' && code !== node && (yield* hasHomeIn(tx, code, group))) return true
  }
  return false
}

type GroupChanges = { [K in keyof GroupFields]?: GroupFields[K] | undefined }

/** Gives some of those whose home leaves another one, while both are members; true where more may be left. */
function* rehome(tx: Query, code: string, { added, removed, heir }: Edition) {
  if (removed.length === 0 || heir === undefined) return false
  if (added.includes(heir)) yield* addMembers(tx, code, [heir])
  const count = yield* rehomeSome(tx, { code, from: removed, to: heir, limit: PORTION })
  return count === PORTION
}

/** One transaction of an edition; the members that came or went since `first` where it was the last, else null. */
function* editIn(
  tx: Query,
  by: { actor: Actor; now: string; first: Edition },
  code: string,
  { nodes, ...changes }: GroupChanges,
) {
  const { actor, now, first } = by
  const edition = yield* readEdition(tx, code, nodes, now)
  if (yield* rehome(tx, code, edition)) return null
  const { added, removed } = edition
  const fields = omitUndefined(changes)
  if (Object.keys(fields).length > 0) yield* updateNodeGroup(tx, code, fields)
  yield* addMembers(tx, code, added)
  yield* removeMembers(tx, code, removed)
  const came = [...new Set([...first.added, ...added])]
  const went = [...new Set([...first.removed, ...removed])]
  yield* noteBehindIn(tx, [...came, ...went])
  const details = [
    ...Object.keys(fields),
    ...came.map((node) => `+${node}`),
    ...went.map((node) => `-${node}`),
  ]
  if (details.length > 0) {
    const detail = details.join(' ')
    yield* audit(tx, actor, now, { action: 'group.edit', object: code, detail })
  }
  return [...came, ...went]
}

/**
 * Changes a group. Subscriptions whose home leaves it get the first of its other members as home, in portions while both still are
 * members, so that nobody is served elsewhere meanwhile; the members change in the transaction that finds none left. Gives what the sync
 * of those that came or went has done by then. Throws 404, or 400.
 */
export async function editNodeGroup(
  s: Deps,
  actor: Actor,
  code: string,
  changes: GroupChanges,
): Promise<NodeSyncResult[]> {
  const now = formatTimestamp(s.clock.now())
  const first = await s.db.tx((tx) => readEdition(tx, code, changes.nodes, now))
  // What they report later of who has left them is not counted.
  await Promise.all(first.removed.map((node) => s.nodeSync.readNode(node, READ_MS)))
  for (;;) {
    const touched = await s.db.tx((tx) => editIn(tx, { actor, now, first }, code, changes))
    if (touched) return syncMembers(s, touched)
    await nextTurn()
  }
}

/** Puts the clients of nodes that came or went right. */
const syncMembers = async (s: Deps, only: string[]): Promise<NodeSyncResult[]> =>
  only.length === 0
    ? []
    : (await s.nodeSync.syncAll({ force: false, remove: true, only, timeoutMs: SYNC_MS })).filter(
        ({ code }) => only.includes(code),
      )

/** Deletes a group that nothing needs any more. Throws 404, or 400 while something does. */
export async function removeNodeGroup(s: Deps, actor: Actor, code: string): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    if (!(yield* readNodeGroup(tx, code))) throw refusal('node-group-not-found')
    if (yield* isGroupUsed(tx, code, now)) throw refusal('node-group-used')
    yield* deleteNodeGroup(tx, code)
    yield* audit(tx, actor, now, { action: 'group.delete', object: code })
  })
}

/**
 * Takes a node that is to be deleted out of its groups. Throws 400 where somebody is served on it by one of them, or one that something
 * needs would have no node.
 */
export function* leaveGroups(tx: Query, node: string, now: string) {
  for (const group of yield* readGroupsOfNode(tx, node)) {
    if (yield* hasUnexpiredOfGroup(tx, group, now)) throw refusal('node-in-group')
    const isLast = (yield* readMembers(tx, group)).length === 1
    if (isLast && (yield* isGroupUsed(tx, group, now))) throw refusal('group-without-nodes')
    yield* removeMembers(tx, group, [node])
  }
}
