/** Groups of nodes and their members, in display order. */

import { type Database, type Query, type Reading, run } from './engine/database.ts'
import { indexed, leastOf } from './engine/dialect.ts'
import { and, asc, eq, inArray, isNotNull, ne, type SQL, sql } from './engine/orm.ts'
import { kept } from './engine/question.ts'
import { isRedeemable } from './gifts.ts'
import { readNode } from './nodes.ts'
import {
  giftCodes,
  type Node,
  type NodeGroup,
  nodeGroupNodes,
  nodeGroups,
  nodes,
  payments,
  plans,
  type Subscription,
  subscriptions,
} from './schema/index.ts'
import { isHeld, isOpen, where, whereActive, whereDisabledUnexpired } from './states.ts'
import { moveHomes } from './subscriptions.ts'
import { MAX_SORT_ORDER } from './values.ts'

const ordered = kept<NodeGroup[]>((q) =>
  q.select().from(nodeGroups).orderBy(asc(nodeGroups.sortOrder), asc(nodeGroups.code)),
)

/** All groups, from memory. */
export const listNodeGroups = (db: Database): readonly NodeGroup[] => db.kept(ordered)

interface Member {
  groupCode: string
  node: string
}

const inDisplayOrder = [asc(nodes.sortOrder), asc(nodes.code)]

const allMembers = kept<Member[]>((q) =>
  q
    .select({ groupCode: nodeGroupNodes.groupCode, node: nodeGroupNodes.node })
    .from(nodeGroupNodes)
    .innerJoin(nodes, eq(nodes.code, nodeGroupNodes.node))
    .orderBy(...inDisplayOrder),
)

/** The codes of a group's members. */
export type Members = ReadonlyMap<string, readonly string[]>

const perGroup = new WeakMap<readonly Member[], Members>()

/** The members of all groups by its code, from memory. */
export function listMembers(db: Database): Members {
  const all: readonly Member[] = db.kept(allMembers)
  let found = perGroup.get(all)
  if (!found) {
    const groups = Map.groupBy(all, ({ groupCode }) => groupCode)
    found = new Map([...groups].map(([code, members]) => [code, members.map(({ node }) => node)]))
    perGroup.set(all, found)
  }
  return found
}

/** A client by where it is served. */
export type PlacedClient = Pick<Subscription, 'uuid' | 'node' | 'nodeGroup'>

const NO_MEMBERS: readonly string[] = []

/** The codes of the nodes that serve a subscription: those of its group, after its own where that is none of them. */
export function nodesOf(
  members: Members,
  { node, nodeGroup }: Pick<PlacedClient, 'node' | 'nodeGroup'>,
): readonly string[] {
  const own = nodeGroup ? (members.get(nodeGroup) ?? NO_MEMBERS) : NO_MEMBERS
  if (own.length === 0) return [node]
  return own.includes(node) ? own : [node, ...own]
}

export function* readNodeGroup(tx: Reading, code: string) {
  const [group] = yield* run(tx.select().from(nodeGroups).where(eq(nodeGroups.code, code)))
  return group as NodeGroup | undefined
}

/** Inserts a group at the end of the display order. Throws a unique violation when the code is taken. */
export function* insertNodeGroup(
  tx: Query,
  row: Omit<NodeGroup, 'sortOrder'> & { sortOrder?: number },
) {
  const last = sql<number>`(select ${leastOf(sql`coalesce(max(sort_order), 0) + 1`, MAX_SORT_ORDER)} from node_groups)`
  const [inserted] = yield* run(
    tx
      .insert(nodeGroups)
      .values({ ...row, sortOrder: row.sortOrder ?? last })
      .returning(),
  )
  return inserted as NodeGroup
}

export function* updateNodeGroup(
  tx: Query,
  code: string,
  changes: Partial<Omit<NodeGroup, 'code'>>,
) {
  yield* run(tx.update(nodeGroups).set(changes).where(eq(nodeGroups.code, code)))
}

export function* deleteNodeGroup(tx: Query, code: string) {
  yield* run(tx.delete(nodeGroupNodes).where(eq(nodeGroupNodes.groupCode, code)))
  yield* run(tx.delete(nodeGroups).where(eq(nodeGroups.code, code)))
}

/** The members of a group, inside a transaction. */
export function* readMembers(tx: Reading, code: string) {
  const rows = yield* run(
    tx
      .select({ node: nodes })
      .from(nodeGroupNodes)
      .innerJoin(nodes, eq(nodes.code, nodeGroupNodes.node))
      .where(eq(nodeGroupNodes.groupCode, code))
      .orderBy(...inDisplayOrder),
  )
  return rows.map(({ node }) => node) as Node[]
}

export function* addMembers(tx: Query, groupCode: string, codes: string[]) {
  if (codes.length === 0) return
  yield* run(
    tx
      .insert(nodeGroupNodes)
      .values(codes.map((node) => ({ groupCode, node })))
      .onConflictDoNothing(),
  )
}

export function* removeMembers(tx: Query, groupCode: string, codes: string[]) {
  yield* run(
    tx
      .delete(nodeGroupNodes)
      .where(and(eq(nodeGroupNodes.groupCode, groupCode), inArray(nodeGroupNodes.node, codes))),
  )
}

/** The codes of the groups that a node is a member of. */
export function* readGroupsOfNode(tx: Reading, node: string) {
  const rows = yield* run(
    tx
      .select({ code: nodeGroupNodes.groupCode })
      .from(nodeGroupNodes)
      .where(eq(nodeGroupNodes.node, node))
      .orderBy(nodeGroupNodes.groupCode),
  )
  return rows.map(({ code }) => code)
}

const ONE = { n: sql`1` }

/** Whether a subscription that may be served again or still is sold with this group. */
export function* hasUnexpiredOfGroup(tx: Query, code: string, now: string) {
  const some = (condition: SQL) =>
    run(
      tx
        .select(ONE)
        .from(subscriptions)
        .where(and(eq(subscriptions.nodeGroup, code), condition))
        .limit(1),
    )
  const found = [
    yield* some(whereActive(now)),
    yield* some(where(isHeld)),
    yield* some(whereDisabledUnexpired(now)),
  ]
  return found.some((rows) => rows.length > 0)
}

/** Whether a plan that is sold, a gift code that can be redeemed, a pending payment or an unexpired subscription names a group. */
export function* isGroupUsed(tx: Query, code: string, now: string) {
  const found = [
    yield* run(tx.select(ONE).from(plans).where(eq(plans.nodeGroup, code)).limit(1)),
    yield* run(
      tx
        .select(ONE)
        .from(giftCodes)
        .where(and(eq(giftCodes.nodeGroup, code), isRedeemable(now)))
        .limit(1),
    ),
    yield* run(
      tx
        .select(ONE)
        .from(indexed(payments, 'payments_next_check_at'))
        .where(and(eq(payments.nodeGroup, code), sql`status = 'pending'`))
        .limit(1),
    ),
  ]
  return found.some((rows) => rows.length > 0) || (yield* hasUnexpiredOfGroup(tx, code, now))
}

/** How many open subscriptions each group has. */
export function* countOfGroups(q: Reading) {
  const rows = yield* run(
    q
      .select({ code: subscriptions.nodeGroup, n: sql<number>`count(*)` })
      .from(subscriptions)
      .where(and(where(isOpen), isNotNull(subscriptions.nodeGroup)))
      .groupBy(subscriptions.nodeGroup),
  )
  return new Map(rows.map(({ code, n }) => [code as string, n]))
}

/** Gives up to `limit` unrevoked subscriptions of a group whose home is one of `from` another one, and pending payments for their renewal; how many they were. */
export function* rehomeSome(
  tx: Query,
  { code, from, to, limit }: { code: string; from: string[]; to: string; limit: number },
) {
  const rows = yield* run(
    tx
      .select({ uuid: subscriptions.uuid })
      .from(subscriptions)
      .where(
        and(
          eq(subscriptions.nodeGroup, code),
          inArray(subscriptions.node, from),
          eq(subscriptions.active, true),
        ),
      )
      .limit(limit),
  )
  if (rows.length === 0) return 0
  const uuids = rows.map(({ uuid }) => uuid)
  yield* moveHomes(tx, uuids, to)
  return rows.length
}

/** Whether unrevoked subscriptions with a home on `node` have this group. */
export function* hasHomeIn(tx: Query, node: string, group: string) {
  const rows = yield* run(
    tx
      .select(ONE)
      .from(subscriptions)
      .where(
        and(
          eq(subscriptions.nodeGroup, group),
          eq(subscriptions.node, node),
          eq(subscriptions.active, true),
        ),
      )
      .limit(1),
  )
  return rows.length > 0
}

/** Whether subscriptions of `node` have a group in which another node than `to` is a local one. */
export function* hasTwoLocal(tx: Query, node: string, to: string) {
  const others = yield* run(
    tx
      .select({ group: nodeGroupNodes.groupCode })
      .from(nodeGroupNodes)
      .innerJoin(nodes, eq(nodes.code, nodeGroupNodes.node))
      .where(and(eq(nodes.kind, 'local'), ne(nodes.code, to))),
  )
  for (const { group } of others) if (yield* hasHomeIn(tx, node, group)) return true
  return false
}

/** The nodes that serve a subscription, those that there are. */
export function* readNodesOf(
  tx: Reading,
  { node, nodeGroup }: Pick<Subscription, 'node' | 'nodeGroup'>,
) {
  const members = nodeGroup === null ? [] : yield* readMembers(tx, nodeGroup)
  if (members.some(({ code }) => code === node)) return members
  const own = yield* readNode(tx, node)
  return own ? [own, ...members] : members
}
