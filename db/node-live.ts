/** How nodes do at this moment, and how often checks found them up. */
import { ask, type Query, type Reading, run } from './engine/database.ts'
import { cappedSum, param } from './engine/dialect.ts'
import { asc, eq, gte, inArray, lt, sql } from './engine/orm.ts'
import { written } from './engine/question.ts'
import { type NodeLive, nodeLive, nodes, nodeUptime } from './schema/index.ts'

const counted = written<{ node: string }, { up: number; down: number }>(
  `select ${cappedSum('up')} as up, ${cappedSum('down')} as down
     from traffic_samples where node = ${param('node')}`,
)

/** All that was counted of a node's customers and is still kept. */
export function* sumOfNode(_q: Reading, node: string) {
  const [sums] = yield* ask(counted, { node })
  return sums as { up: number; down: number }
}

/** How a node did when it was passed over last. */
export function* readLive(q: Reading, node: string) {
  const [row] = yield* run(q.select().from(nodeLive).where(eq(nodeLive.node, node)))
  return row
}

/** The nodes in their order, each with how it did at its last pass: null before the first. */
export function* listLive(q: Reading) {
  return yield* run(
    q
      .select({ node: nodes, live: nodeLive })
      .from(nodes)
      .leftJoin(nodeLive, eq(nodeLive.node, nodes.code))
      .orderBy(asc(nodes.sortOrder), asc(nodes.code)),
  )
}

export function* putLive(tx: Query, row: NodeLive) {
  const { node, ...set } = row
  yield* run(tx.insert(nodeLive).values(row).onConflictDoUpdate({ target: nodeLive.node, set }))
}

/** Which of these nodes there are: one may have been deleted while a pass over it went on. */
export function* presentNodes(q: Reading, asked: string[]) {
  const rows = yield* run(
    q.select({ code: nodes.code }).from(nodes).where(inArray(nodes.code, asked)),
  )
  return rows.map(({ code }) => code)
}

/** Counts a check of these nodes on a day. */
export function* countCheck(tx: Query, checked: string[], day: string, up: boolean) {
  const seen = { ok: up ? 1 : 0, bad: up ? 0 : 1 }
  const codes = yield* presentNodes(tx, checked)
  if (codes.length === 0) return
  yield* run(
    tx
      .insert(nodeUptime)
      .values(codes.map((node) => ({ node, day, ...seen })))
      .onConflictDoUpdate({
        target: [nodeUptime.node, nodeUptime.day],
        set: {
          ok: sql`${nodeUptime.ok} + ${seen.ok}`,
          bad: sql`${nodeUptime.bad} + ${seen.bad}`,
        },
      }),
  )
}

/** The checks of these nodes by day, from `day` on. */
export function* listUptime(q: Reading, codes: string[], day: string) {
  if (codes.length === 0) return []
  return yield* run(
    q
      .select()
      .from(nodeUptime)
      .where(sql`${inArray(nodeUptime.node, codes)} and ${gte(nodeUptime.day, day)}`)
      .orderBy(asc(nodeUptime.day)),
  )
}

/** Forgets what was seen of a node that is deleted. */
export function* forgetSeen(tx: Query, code: string) {
  yield* run(tx.delete(nodeLive).where(eq(nodeLive.node, code)))
  yield* run(tx.delete(nodeUptime).where(eq(nodeUptime.node, code)))
}

/** Forgets the checks of the days before `day`. */
export function* forgetUptime(tx: Query, day: string) {
  yield* run(tx.delete(nodeUptime).where(lt(nodeUptime.day, day)))
}

const online = written<{ since: string }, { subscriptions: number; customers: number }>(
  `select count(*) as subscriptions, count(distinct tg_id) as customers from subscriptions
     where last_online_at > ${param('since')}`,
)

/** How many subscriptions had traffic since a moment, and of how many customers they are. */
export function* countOnline(_q: Reading, since: string) {
  const [counts] = yield* ask(online, { since })
  return counts as { subscriptions: number; customers: number }
}
