/** Nodes in their display order. */

import {
  ask,
  type Database,
  type Nothing,
  type Query,
  type Reading,
  run,
} from './engine/database.ts'
import { and, asc, eq, gt, inArray, isNotNull, ne, or, sql } from './engine/orm.ts'
import { built, field, input, kept } from './engine/question.ts'
import { countCheck } from './node-live.ts'
import { type Node, nodes, payments } from './schema/index.ts'

const ordered = kept<Node[]>((q) =>
  q.select().from(nodes).orderBy(asc(nodes.sortOrder), asc(nodes.code)),
)

export function* listNodes(_q: Reading) {
  return yield* ask(ordered, {})
}

/** The same from memory: what lists and public pages show of them, and pinned keys, are as they are now, all else may be older. */
export const keptNodes = (db: Database): readonly Node[] => db.kept(ordered)

const byCode = built<{ code: string }, Node[]>((q) =>
  q
    .select()
    .from(nodes)
    .where(eq(nodes.code, input('code'))),
)

/** The node whose install command carries this token; undefined once the token has run out. */
export function* readNodeByToken(_q: Reading, token: string, now: string) {
  const [node] = yield* ask(byToken, { token, now })
  return node
}

const byToken = built<{ token: string; now: string }, Node[]>((q) =>
  q
    .select()
    .from(nodes)
    .where(
      and(eq(nodes.provisionToken, field('token')), gt(nodes.provisionExpiresAt, field('now'))),
    ),
)

export function* readNode(_tx: Reading, code: string) {
  const [node] = yield* ask(byCode, { code })
  return node
}

/** Inserts a node at the end of the display order. Throws a unique violation when the code is taken. */
export function* insertNode(tx: Query, row: Omit<typeof nodes.$inferInsert, 'sortOrder'>) {
  const [inserted] = yield* run(
    tx
      .insert(nodes)
      .values({ ...row, sortOrder: sql`(select coalesce(max(sort_order), 0) + 1 from nodes)` })
      .returning(),
  )
  return inserted as Node
}

export function* updateNode(tx: Query, code: string, changes: Partial<typeof nodes.$inferInsert>) {
  const [updated] = yield* run(
    tx.update(nodes).set(changes).where(eq(nodes.code, code)).returning(),
  )
  return updated as Node | undefined
}

export function* deleteNode(tx: Query, code: string) {
  yield* run(tx.delete(nodes).where(eq(nodes.code, code)))
}

/** Gives the nodes the order of `codes`. */
export function* reorderNodes(tx: Query, codes: string[]) {
  for (const [index, code] of codes.entries()) {
    yield* run(
      tx
        .update(nodes)
        .set({ sortOrder: index + 1 })
        .where(eq(nodes.code, code)),
    )
  }
}

/** The codes of all nodes, inside a transaction. */
export function* readNodeCodes(tx: Reading) {
  const rows = yield* run(tx.select({ code: nodes.code }).from(nodes))
  return rows.map((row) => row.code)
}

/** The number of pending payments for a node that were made after `since`. */
export function* countPendingPayments(tx: Query, node: string, since: string) {
  const [row] = yield* run(
    tx
      .select({ n: sql<number>`count(*)` })
      .from(payments)
      .where(
        and(
          eq(payments.node, node),
          eq(payments.status, 'pending'),
          sql`${payments.createdAt} > ${since}`,
        ),
      ),
  )
  return row?.n ?? 0
}

/** Stores what a sync learned of the health of nodes; not of one that was given up while it ran, which has not been seen again. */
export async function recordHealth(
  db: Database,
  codes: string[],
  health: Partial<Pick<Node, 'lastSeenAt' | 'lastError' | 'coreVersion' | 'program'>>,
): Promise<void> {
  // As `isSetUp` has it.
  const setUp = or(eq(nodes.status, 'active'), isNotNull(nodes.lastSeenAt))
  await db.tx((tx) =>
    run(
      tx
        .update(nodes)
        .set(health)
        .where(and(inArray(nodes.code, codes), setUp)),
    ),
  )
}

/** What a check that finds a node up, or down, is news of; null where it is none. Lists read `downSince`: it is written when it changes. */
function newsOf(
  { downSince, upOnce }: Pick<Node, 'downSince' | 'upOnce'>,
  up: boolean,
  now: string,
) {
  if (up) return downSince === null ? null : upOnce ? { downSince: null, upOnce } : { upOnce: true }
  if (downSince === null) return { downSince: now, upOnce: false }
  return upOnce ? { upOnce: false } : null
}

/** Notes whether a check has found nodes up: down since the first that did not, up again with the second in a row that does. */
export async function noteChecked(
  db: Database,
  rows: Pick<Node, 'code' | 'downSince' | 'upOnce'>[],
  up: boolean,
  now: string,
): Promise<void> {
  const news = rows.flatMap((row) => {
    const changes = newsOf(row, up, now)
    return changes ? [{ code: row.code, changes }] : []
  })
  const codes = rows.map(({ code }) => code)
  await db.tx(function* (tx) {
    yield* countCheck(tx, codes, now.slice(0, 'YYYY-MM-DD'.length), up)
    for (const { code, changes } of news) yield* updateNode(tx, code, changes)
  })
}

/** Notes whether nodes redirect the range of ports that these rows of them say: lists have it from then on. */
export async function noteHopping(
  db: Database,
  rows: Pick<Node, 'code' | 'hysteriaHop' | 'hysteriaHopping'>[],
  hopping: boolean,
): Promise<void> {
  for (const { code, hysteriaHop, hysteriaHopping } of rows) {
    if (hysteriaHop === null || hysteriaHopping === hopping) continue
    const isSame = and(eq(nodes.code, code), eq(nodes.hysteriaHop, hysteriaHop))
    await db.tx((tx) => run(tx.update(nodes).set({ hysteriaHopping: hopping }).where(isSame)))
  }
}

/** Notes that a change may not have reached these nodes. */
export function* noteBehindIn(tx: Query, codes: string[]) {
  const behind = sql`${nodes.behind} + 1`
  yield* run(tx.update(nodes).set({ behind }).where(inArray(nodes.code, codes)))
}

export async function noteBehind(db: Database, codes: string[]): Promise<void> {
  await db.tx((tx) => noteBehindIn(tx, codes))
}

/** Notes that these nodes are behind no more, unless something has missed them since their rows were read. */
export async function noteInStep(
  db: Database,
  rows: Pick<Node, 'code' | 'behind'>[],
): Promise<void> {
  const late = rows.filter((row) => row.behind > 0)
  if (late.length === 0) return
  await db.tx(function* (tx) {
    for (const { code, behind } of late) {
      yield* run(
        tx
          .update(nodes)
          .set({ behind: 0 })
          .where(and(eq(nodes.code, code), eq(nodes.behind, behind))),
      )
    }
  })
}

const behindNodes = built<Nothing, Node[]>((q) => q.select().from(nodes).where(gt(nodes.behind, 0)))

/** The nodes that may lack a change. */
export function* listBehind(_q: Reading) {
  return yield* ask(behindNodes, {})
}

/** Sets or clears the removal brake's alarm; true when this changed it. */
export async function setSyncBlocked(
  db: Database,
  code: string,
  blocked: boolean,
): Promise<boolean> {
  const rows = await db.tx((tx) =>
    run(
      tx
        .update(nodes)
        .set({ syncBlocked: blocked })
        .where(and(eq(nodes.code, code), ne(nodes.syncBlocked, blocked)))
        .returning({ code: nodes.code }),
    ),
  )
  return rows.length > 0
}
