/** Counts for the dashboard: each from an index that covers it, so that none visits the rows of a large table. */
import type { Database, Query } from './open.ts'

type Raw = Database['raw']

/** Every subscription is in one of the four. */
export interface SubscriptionCounts {
  active: number
  held: number
  expired: number
  revoked: number
}

const counts = (_q: Query, raw: Raw) =>
  raw.prepare<
    { now: string; soon: string },
    Omit<SubscriptionCounts, 'active'> & {
      total: number
      users: number
      devices: number
      expiring: number
      pending: number
      inReview: number
      orphans: number
    }
  >(
    `select (select count(*) from users) as users,
       (select count(*) from devices) as devices,
       (select count(*) from subscriptions) as total,
       (select count(*) from subscriptions where active = 0) as revoked,
       (select count(*) from subscriptions where active = 1 and held_at is not null) as held,
       (select count(*) from subscriptions indexed by subscriptions_owner
          where active <> 0 and held_at is null and expires_at <= +@now) as expired,
       (select count(*) from subscriptions indexed by subscriptions_expires_at
          where expires_at > +@now and expires_at <= +@soon and +active = 1 and held_at is null) as expiring,
       (select count(*) from payments where status = 'pending') as pending,
       (select count(*) from payments where review_reason is not null) as inReview,
       (select count(*) from orphan_payments where resolved_at is null) as orphans`,
  )

/** A sum of what nodes report, which may be too large for sum(), and for JavaScript. */
const sumOf = (column: string) => `cast(min(total(${column}), ${Number.MAX_SAFE_INTEGER}) as int)`

const traffic = (_q: Query, raw: Raw) =>
  raw.prepare<[], { up: number; down: number }>(
    `select ${sumOf('up_bytes')} as up, ${sumOf('down_bytes')} as down from subscriptions`,
  )

/**
 * What is counted of all rows at `now`; `expiring`: active subscriptions that end up to `soon`; `review`: payments that wait for an
 * admin, open `orphans` among them.
 */
export function countAll(db: Database, now: string, soon: string) {
  const row = db.prepared(counts).get({ now, soon })
  if (!row) throw new Error('a count without a row')
  const { total, revoked, held, expired, inReview, ...rest } = row
  const active = total - revoked - held - expired
  const review = inReview + rest.orphans
  return { ...rest, review, subscriptions: { active, held, expired, revoked } }
}

/** Bytes of all stored totals. */
export function sumTraffic(db: Database): { up: number; down: number } {
  return db.prepared(traffic).get() ?? { up: 0, down: 0 }
}

const paid = (_q: Query, raw: Raw) =>
  raw.prepare<{ from: string; to: string; currency: string }, { paid: number; revenue: number }>(
    `select count(*) as paid,
       coalesce(sum(case when currency = @currency and refunded_at is null then amount end), 0) as revenue
     from payments where status = 'paid' and paid_at >= +@from and paid_at < +@to`,
  )

/** Payments paid in [from, to), and what they brought in `currency`; refunded ones brought nothing. */
export function sumPaid(db: Database, from: string, to: string, currency: string) {
  return db.prepared(paid).get({ from, to, currency }) ?? { paid: 0, revenue: 0 }
}

const created = (_q: Query, raw: Raw) =>
  raw
    .prepare<[from: string, to: string], number>(
      'select count(*) from users where created_at >= +? and created_at < +?',
    )
    .pluck()

/** Users created in [from, to). */
export function countNewUsers(db: Database, from: string, to: string): number {
  return db.prepared(created).get(from, to) ?? 0
}

const samples = (_q: Query, raw: Raw) =>
  raw.prepare<[from: string], { day: string; up: number; down: number }>(
    `select day, ${sumOf('up')} as up, ${sumOf('down')} as down
       from traffic_samples where day >= +? group by day`,
  )

/** Traffic of all nodes by UTC day, from `day` on. */
export function sumSamples(db: Database, day: string): Map<string, { up: number; down: number }> {
  return new Map(
    db
      .prepared(samples)
      .all(day)
      .map((row) => [row.day, row]),
  )
}

const nodeSamples = (_q: Query, raw: Raw) =>
  raw.prepare<[node: string, from: string], { day: string; up: number; down: number }>(
    'select day, up, down from traffic_samples where node = +? and day >= +?',
  )

/** Traffic of a node by UTC day, from `day` on. */
export const listSamples = (db: Database, node: string, day: string) =>
  db.prepared(nodeSamples).all(node, day)

const active = (_q: Query, raw: Raw) =>
  raw.prepare<{ now: string }, { node: string; plan: string; active: number }>(
    `select node, plan, count(*) as active from subscriptions indexed by subscriptions_list
     where active = 1 and held_at is null and expires_at > +@now group by node, plan`,
  )

/** Active subscriptions at `now` by node and plan. */
export const countActive = (db: Database, now: string) => db.prepared(active).all({ now })

const endings = (_q: Query, raw: Raw) =>
  raw
    .prepare<[from: string, to: string], number>(
      `select count(*) from subscriptions indexed by subscriptions_expires_at
       where expires_at >= +? and expires_at < +? and +active = 1 and held_at is null`,
    )
    .pluck()

/** Active subscriptions that end in [from, to). */
export function countEndings(db: Database, from: string, to: string): number {
  return db.prepared(endings).get(from, to) ?? 0
}
