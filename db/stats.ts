/** Counts for the dashboard: each from an index that covers it, so that none visits the rows of a large table. */
import type { DaySpan } from '#src/lib/time.ts'
import type { Database, Query } from './database.ts'
import { REMINDED } from './reminders.ts'
import { isOpen } from './states.ts'

type Raw = Database['raw']

/** Every subscription is in one of the four. */
export interface SubscriptionCounts {
  active: number
  held: number
  expired: number
  revoked: number
}

type CountRow = Record<
  | 'users'
  | 'devices'
  | 'up'
  | 'down'
  | 'open'
  | 'held'
  | 'revoked'
  | 'running'
  | 'expiring'
  | 'pending'
  | 'inReview'
  | 'orphans',
  number
>

const tallied = (name: string, slot: string) =>
  `coalesce((select n from tallies where name = '${name}' and slot = '${slot}'), 0)`

/** Bytes; beyond what JavaScript's numbers hold as many as they do. */
const traffic = (slot: 'up' | 'down') =>
  `min(${tallied('traffic', slot)} * (1 << 32) + ${tallied('traffic', `${slot} rest`)}, ${Number.MAX_SAFE_INTEGER})`

/** Subscriptions that are neither revoked nor held and end in (from, to]: an index that reminders use covers them. */
const ending = (after: string, until: string) =>
  `(select count(*) from subscriptions indexed by subscriptions_reminders
     where ${isOpen()} and reminded in (${REMINDED}) and expires_at > ${after} and expires_at <= ${until})`

/** The last moment of the day of a timestamp, beyond every one that is on it. */
const endOfDay = (at: string) => `substr(${at}, 1, 10) || 'T99'`

const counts = (_q: Query, raw: Raw) =>
  raw.prepare<{ now: string; soon: string }, CountRow>(
    `select (select coalesce(sum(n), 0) from tallies where name = 'users') as users,
       ${tallied('devices', '')} as devices,
       ${traffic('up')} as up,
       ${traffic('down')} as down,
       (select coalesce(sum(n), 0) from ending_counts) as open,
       ${tallied('subscriptions', 'held')} as held,
       ${tallied('subscriptions', 'revoked')} as revoked,
       (select coalesce(sum(n), 0) from ending_counts where day > substr(@now, 1, 10))
         + ${ending('@now', endOfDay('@now'))} as running,
       ${ending('@now', '@soon')} as expiring,
       (select count(*) from payments where status = 'pending') as pending,
       (select count(*) from payments where review_reason is not null) as inReview,
       (select count(*) from orphan_payments where resolved_at is null) as orphans`,
  )

/** A sum of what nodes report, which may be too large for sum(), and for JavaScript. */
const sumOf = (column: string) => `cast(min(total(${column}), ${Number.MAX_SAFE_INTEGER}) as int)`

/** A stretch of time: [from, to). */
export interface Span {
  from: string
  to: string
}

/** What the counts of the moment are asked for. */
export interface CountInput {
  now: string
  soon: string
  today: Span
  month: Span
  currency: string
}

/**
 * What is counted of all rows at `now`; `expiring`: active subscriptions that end up to `soon`; `review`: payments that wait for an
 * admin, open `orphans` among them; `traffic`: bytes of all stored totals; what was paid `today` and in the `month`.
 */
export function countAll(db: Database, { now, soon, today, month, currency }: CountInput) {
  const row = db.prepared(counts).get({ now, soon })
  if (!row) throw new Error('a count without a row')
  const { up, down, open, held, revoked, running, inReview, ...rest } = row
  const subscriptions: SubscriptionCounts = {
    active: running,
    held,
    expired: open - running,
    revoked,
  }
  return {
    ...rest,
    review: inReview + rest.orphans,
    subscriptions,
    traffic: { up, down },
    today: sumPaid(db, today, currency),
    month: sumPaid(db, month, currency),
  }
}

const tally = (_q: Query, raw: Raw) =>
  raw
    .prepare<[name: string, from: string, to: string], number>(
      'select coalesce(sum(n), 0) from tallies where name = +? and slot >= +? and slot < +?',
    )
    .pluck()

/** What was counted in a span, which begins and ends with a quarter of an hour. */
const tallyOf = (db: Database, name: string, { from, to }: Span): number =>
  db.prepared(tally).get(name, from.slice(0, SLOT), to.slice(0, SLOT)) ?? 0

/** `YYYY-MM-DDTHH:MM`. */
const SLOT = 16

/** Payments paid in a span, and what they brought in `currency`; refunded ones brought nothing. */
const sumPaid = (db: Database, span: Span, currency: string) => ({
  paid: tallyOf(db, 'paid', span),
  revenue: tallyOf(db, `revenue ${currency}`, span),
})

/** Traffic of all nodes by UTC day, from a day on. */
const samples = (_q: Query, raw: Raw) =>
  raw.prepare<[from: string], { day: string; up: number; down: number }>(
    `select day, ${sumOf('up')} as up, ${sumOf('down')} as down
       from traffic_samples where day >= +? group by day`,
  )

/**
 * Users created on each day, payments paid on it and what they brought; traffic of all nodes on the UTC day of the same date. Days
 * follow each other.
 */
export function countDays(db: Database, days: DaySpan[], currency: string) {
  const traffic = new Map(
    db
      .prepared(samples)
      .all(days[0]?.day ?? '')
      .map((row) => [row.day, row]),
  )
  return days.map((one) => ({
    users: tallyOf(db, 'users', one),
    ...sumPaid(db, one, currency),
    up: traffic.get(one.day)?.up ?? 0,
    down: traffic.get(one.day)?.down ?? 0,
  }))
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
    `select node, plan, sum(n) as active from (
       select node, plan, n from ending_counts where day > substr(@now, 1, 10)
       union all
       select node, plan, 1 from subscriptions indexed by subscriptions_expires_at
         where expires_at > @now and expires_at <= ${endOfDay('@now')} and ${isOpen()})
     group by node, plan having active > 0`,
  )

const endings = (_q: Query, raw: Raw) =>
  raw
    .prepare<[from: string, to: string], number>(
      `select count(*) from subscriptions indexed by subscriptions_reminders
       where ${isOpen()} and reminded in (${REMINDED}) and expires_at >= +? and expires_at < +?`,
    )
    .pluck()

/** Active subscriptions at `now` by node and plan, and how many end in each span. */
export const countActive = (db: Database, now: string, spans: Span[]) => ({
  rows: db.prepared(active).all({ now }),
  endings: spans.map(({ from, to }) => db.prepared(endings).get(from, to) ?? 0),
})
