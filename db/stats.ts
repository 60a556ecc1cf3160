/** Counts for the dashboard: each from an index that covers it, so that none visits the rows of a large table. */
import type { DaySpan } from '#src/lib/time.ts'
import { ask, type Reading, type Steps } from './engine/database.ts'
import { byIndex, cappedSum, least, param } from './engine/dialect.ts'
import { written, writtenValues } from './engine/question.ts'
import { REMINDED } from './reminders.ts'
import { isLimited, isOpen } from './states.ts'

/** Every subscription is in one of them. */
export interface SubscriptionCounts {
  active: number
  limited: number
  disabled: number
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
  | 'disabled'
  | 'revoked'
  | 'running'
  | 'limited'
  | 'expiring'
  | 'pending'
  | 'inReview'
  | 'orphans',
  number
>

const tallied = (name: string, slot: string) =>
  `(select coalesce(sum(n), 0) from tallies where name = '${name}' and slot = '${slot}')`

/** Bytes; beyond what JavaScript's numbers hold as many as they do. */
const traffic = (slot: 'up' | 'down') =>
  least(
    `${tallied('traffic', slot)} * ${2 ** 32} + ${tallied('traffic', `${slot} rest`)}`,
    String(Number.MAX_SAFE_INTEGER),
  )

/** Subscriptions that are neither revoked, disabled nor held and end in (from, to]: an index that reminders use covers them. */
const ending = (after: string, until: string) =>
  `(select count(*) from subscriptions ${byIndex('subscriptions_reminders')}
     where ${isOpen()} and reminded in (${REMINDED}) and expires_at > ${after} and expires_at <= ${until})`

/** The last moment of the day of a timestamp, beyond every one that is on it. */
const endOfDay = (at: string) => `substr(${at}, 1, 10) || 'T99'`

const NOW = param('now')

const counts = written<{ now: string; soon: string }, CountRow>(
  `select (select coalesce(sum(n), 0) from tallies where name = 'users') as users,
       ${tallied('devices', '')} as devices,
       ${traffic('up')} as up,
       ${traffic('down')} as down,
       (select coalesce(sum(n), 0) from ending_counts) as open,
       ${tallied('subscriptions', 'held')} as held,
       ${tallied('subscriptions', 'disabled')} as disabled,
       ${tallied('subscriptions', 'revoked')} as revoked,
       (select coalesce(sum(n), 0) from ending_counts where day > substr(${NOW}, 1, 10))
         + ${ending(NOW, endOfDay(NOW))} as running,
       (select count(*) from subscriptions ${byIndex('subscriptions_limited')}
          where ${isLimited()} and expires_at > ${NOW}) as limited,
       ${ending(NOW, param('soon'))} as expiring,
       (select count(*) from payments where status = 'pending') as pending,
       (select count(*) from payments where review_reason is not null) as "inReview",
       (select count(*) from orphan_payments where resolved_at is null) as orphans`,
)

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
export function* countAll(_q: Reading, { now, soon, today, month, currency }: CountInput) {
  const [row] = yield* ask(counts, { now, soon })
  if (!row) throw new Error('a count without a row')
  const { up, down, open, held, disabled, revoked, running, limited, inReview, ...rest } = row
  const subscriptions: SubscriptionCounts = {
    active: running - limited,
    limited,
    disabled,
    held,
    expired: open - running,
    revoked,
  }
  return {
    ...rest,
    review: inReview + rest.orphans,
    subscriptions,
    traffic: { up, down },
    today: yield* sumPaid(today, currency),
    month: yield* sumPaid(month, currency),
  }
}

const tally = writtenValues<Span & { name: string }, number>(
  `select coalesce(sum(n), 0) from tallies
   where name = ${param('name')} and slot >= ${param('from')} and slot < ${param('to')}`,
)

/** What was counted in a span, which begins and ends with a quarter of an hour. */
function* tallyOf(name: string, { from, to }: Span): Steps<number> {
  const [n = 0] = yield* ask(tally, { name, from: from.slice(0, SLOT), to: to.slice(0, SLOT) })
  return n
}

/** `YYYY-MM-DDTHH:MM`. */
const SLOT = 16

/** Payments paid in a span, and what they brought in `currency`; refunded ones brought nothing. */
function* sumPaid(span: Span, currency: string) {
  return {
    paid: yield* tallyOf('paid', span),
    revenue: yield* tallyOf(`revenue ${currency}`, span),
  }
}

/** Traffic of all nodes by UTC day, from a day on. */
const samples = written<{ from: string }, { day: string; up: number; down: number }>(
  `select day, ${cappedSum('up')} as up, ${cappedSum('down')} as down
     from traffic_samples where day >= ${param('from')} group by day`,
)

/**
 * Users created on each day, payments paid on it and what they brought; traffic of all nodes on the UTC day of the same date. Days
 * follow each other.
 */
export function* countDays(_q: Reading, days: DaySpan[], currency: string) {
  const rows = yield* ask(samples, { from: days[0]?.day ?? '' })
  const traffic = new Map(rows.map((row) => [row.day, row]))
  const counted = []
  for (const one of days) {
    counted.push({
      users: yield* tallyOf('users', one),
      ...(yield* sumPaid(one, currency)),
      up: traffic.get(one.day)?.up ?? 0,
      down: traffic.get(one.day)?.down ?? 0,
    })
  }
  return counted
}

const nodeSamples = written<
  { node: string; day: string },
  { day: string; up: number; down: number }
>(
  `select day, up, down from traffic_samples where node = ${param('node')} and day >= ${param('day')}`,
)

/** Traffic of a node by UTC day, from `day` on. */
export function* listSamples(_q: Reading, node: string, day: string) {
  return yield* ask(nodeSamples, { node, day })
}

const active = written<{ now: string }, { node: string; plan: string; active: number }>(
  `select node, plan, sum(n) as active from (
       select node, plan, n from ending_counts where day > substr(${NOW}, 1, 10)
       union all
       select node, plan, 1 from subscriptions ${byIndex('subscriptions_expires_at')}
         where expires_at > ${NOW} and expires_at <= ${endOfDay(NOW)} and ${isOpen()}) as counted
     group by node, plan having sum(n) > 0`,
)

const endings = writtenValues<Span, number>(
  `select count(*) from subscriptions ${byIndex('subscriptions_reminders')}
   where ${isOpen()} and reminded in (${REMINDED})
     and expires_at >= ${param('from')} and expires_at < ${param('to')}`,
)

/** Active subscriptions at `now` by node and plan, and how many end in each span. */
export function* countActive(_q: Reading, now: string, spans: Span[]) {
  const rows = yield* ask(active, { now })
  const counted: number[] = []
  for (const { from, to } of spans) {
    const [n = 0] = yield* ask(endings, { from, to })
    counted.push(n)
  }
  return { rows, endings: counted }
}
