/** Traffic: counted once from the cores' readings, read as stored totals. */
import { ask, type Query, type Reading, run } from './engine/database.ts'
import { cappedSumOf, leastOf, param, textsOf } from './engine/dialect.ts'
import { desc, eq, gt, type SQLWrapper, sql } from './engine/orm.ts'
import { built, field, input, written } from './engine/question.ts'
import type { PageRequest } from './paging.ts'
import type { Quota } from './quotas.ts'
import {
  counters,
  nodes,
  readings,
  type Subscription,
  subscriptions,
  trafficSamples,
  users,
} from './schema/index.ts'
import { nodeAmong } from './served-nodes.ts'

export interface CounterReading {
  uuid: string
  up: number
  down: number
}

/** The reading of a core that was counted last; empty before the first. */
export function* readReading(tx: Reading, core: string) {
  const [row] = yield* run(tx.select().from(readings).where(eq(readings.core, core)))
  return row?.reading ?? ''
}

export function* putReading(tx: Query, core: string, reading: string) {
  yield* run(
    tx
      .insert(readings)
      .values({ core, reading })
      .onConflictDoUpdate({ target: readings.core, set: { reading } }),
  )
}

/** What it has counted of a client, the quota that more counts against, and whether it begins with that. */
export interface Base extends Quota, Pick<Subscription, 'startBy' | 'startSeconds' | 'heldAt'> {
  uuid: string
  node: string | null
  epoch: string | null
  up: number | null
  down: number | null
}

const QUOTA_COLUMNS = `s.quota_bytes as "quotaBytes", s.quota_period as "quotaPeriod", s.quota_anchor as "quotaAnchor",
  s.used_bytes as "usedBytes", s.used_rest as "usedRest", s.extra_bytes as "extraBytes", s.resets_at as "resetsAt",
  s.limited_at as "limitedAt", s.quota_notice as "quotaNotice"`

const bases = written<{ core: string; codes: string; uuids: string }, Base>(
  `select s.uuid, ${nodeAmong(textsOf('codes'), 's.')} as node, c.epoch, c.up, c.down, ${QUOTA_COLUMNS},
     s.start_by as "startBy", s.start_seconds as "startSeconds", s.held_at as "heldAt"
   from subscriptions s left join counters c on c.uuid = s.uuid and c.core = ${param('core')}
   where s.uuid in (${textsOf('uuids')})`,
)

/**
 * The bases of these clients on a core, and which of `codes`, its nodes, serves their subscriptions: null where none does. Clients
 * without a subscription are left out.
 */
export function* readBases(_tx: Query, core: string, codes: string[], uuids: string[]) {
  const [own, asked] = [JSON.stringify(codes), JSON.stringify(uuids)]
  return yield* ask(bases, { core, codes: own, uuids: asked })
}

const based = built<CounterReading & { core: string; epoch: string }, unknown>((q) => {
  const values = { epoch: field('epoch'), up: field('up'), down: field('down') }
  return q
    .insert(counters)
    .values({ core: field('core'), uuid: field('uuid'), ...values })
    .onConflictDoUpdate({
      target: [counters.uuid, counters.core],
      set: {
        epoch: sql`${values.epoch}`,
        up: sql`${values.up}`,
        down: sql`${values.down}`,
      },
    })
})

/** Sets a client's base on a core. */
export function* putBase(_tx: Query, core: string, epoch: string, reading: CounterReading) {
  const { uuid, up, down } = reading
  yield* ask(based, { core, uuid, epoch, up, down })
}

/** A sum that stays a number of JavaScript, whatever nodes report. */
const sum = (column: SQLWrapper, more: unknown) =>
  leastOf(sql`${column} + ${more}`, Number.MAX_SAFE_INTEGER)

const exact = (bytes: number) => Math.min(bytes, Number.MAX_SAFE_INTEGER)

const added = built<CounterReading & { now: string }, unknown>((q) =>
  q
    .update(subscriptions)
    .set({
      upBytes: sum(subscriptions.upBytes, field('up')),
      downBytes: sum(subscriptions.downBytes, field('down')),
      lastOnlineAt: sql`${field('now')}`,
    })
    .where(eq(subscriptions.uuid, input('uuid'))),
)

/** Adds what was counted of a client at `now`. */
export function* addTraffic(_tx: Query, uuid: string, up: number, down: number, now: string) {
  yield* ask(added, { uuid, up, down, now })
}

export function* addSample(tx: Query, node: string, day: string, up: number, down: number) {
  yield* run(
    tx
      .insert(trafficSamples)
      .values({ node, day, up: exact(up), down: exact(down) })
      .onConflictDoUpdate({
        target: [trafficSamples.node, trafficSamples.day],
        set: { up: sum(trafficSamples.up, up), down: sum(trafficSamples.down, down) },
      }),
  )
}

/** Sets the totals of a subscription to zero; the core's next reading, a full one, becomes the base of each of `bases`. */
export function* resetTraffic(tx: Query, uuid: string, core: string, bases: string[]) {
  yield* run(
    tx.update(subscriptions).set({ upBytes: 0, downBytes: 0 }).where(eq(subscriptions.uuid, uuid)),
  )
  for (const base of bases) yield* putBase(tx, base, RESET_EPOCH, { uuid, up: 0, down: 0 })
  yield* run(tx.delete(readings).where(eq(readings.core, core)))
}

/** The epoch of a base whose next reading counts nothing. */
export const RESET_EPOCH = 'reset'

const total = sql<number>`(up_bytes + down_bytes)`
const { seq } = subscriptions

/** The `most` subscriptions with the most traffic, as a table to select from. */
const largest = (q: Reading, most: number) =>
  q
    .select({
      seq,
      total: total.as('traffic_total'),
      uuid: subscriptions.uuid,
      tgId: subscriptions.tgId,
      node: subscriptions.node,
      up: subscriptions.upBytes,
      down: subscriptions.downBytes,
    })
    .from(subscriptions)
    .where(gt(total, 0))
    .orderBy(desc(total), desc(seq))
    .limit(most)
    .as('largest')

/** A page of the `most` subscriptions with the most traffic, largest first. */
function* listTraffic(q: Reading, most: number, page: PageRequest) {
  const rows = largest(q, most)
  return yield* run(
    q
      .select({
        seq: rows.seq,
        uuid: rows.uuid,
        tgId: rows.tgId,
        username: users.username,
        name: users.name,
        node: rows.node,
        nodeLabel: nodes.label,
        up: rows.up,
        down: rows.down,
      })
      .from(rows)
      .leftJoin(users, eq(users.tgId, rows.tgId))
      .leftJoin(nodes, eq(nodes.code, rows.node))
      .where(
        page.cursor
          ? sql`(${rows.total}, ${rows.seq}) < (cast(${page.cursor.value} as integer), ${page.cursor.key})`
          : undefined,
      )
      .orderBy(desc(rows.total), desc(rows.seq))
      .limit(page.limit),
  )
}

/** How many they are, and what they have in all. */
function* sumTraffic(q: Reading, most: number) {
  const rows = largest(q, most)
  const [sums] = yield* run(
    q
      .select({
        count: sql<number>`count(*)`,
        up: cappedSumOf(rows.up),
        down: cappedSumOf(rows.down),
      })
      .from(rows),
  )
  return sums as { count: number; up: number; down: number }
}

/** A page of the `most` subscriptions with the most traffic, largest first; how many they are, and what they have in all. */
export function* reportTraffic(q: Reading, most: number, page: PageRequest) {
  const rows = yield* listTraffic(q, most, page)
  return { rows, ...(yield* sumTraffic(q, most)) }
}
