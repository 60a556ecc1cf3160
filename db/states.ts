/**
 * The states of a subscription in SQL: revoked, disabled, held, expired, limited, active, of which the first that fits is its own (interface, "States and
 * transitions"); `subscriptionState` of the domain says the same of a row. As text, which statements of hot paths and triggers are
 * made of. SQLite takes a partial index only for the very words of its condition: these are theirs (db/schema/subscriptions.ts).
 */
import { type SQL, sql } from './engine/orm.ts'

/** What the columns of a table are named by in a statement: nothing, or an alias with its dot. */
type Row = '' | `${string}.`

export const isRevoked = (row: Row = '') => `${row}active = 0`

/** Switched off: neither its end nor a pause is touched by that. */
export const isDisabled = (row: Row = '') => `${row}active = 1 and ${row}disabled_at is not null`

export const isHeld = (row: Row = '') =>
  `${row}active = 1 and ${row}disabled_at is null and ${row}held_at is not null`

/** Neither revoked, disabled nor held: active, or expired. */
export const isOpen = (row: Row = '') =>
  `${row}active = 1 and ${row}disabled_at is null and ${row}held_at is null`

/** Open, with all its traffic used up. */
export const isLimited = (row: Row = '') => `${isOpen(row)} and ${row}limited_at is not null`

/** Those whose traffic counts from 0 again at a time. */
export const RESETS = 'active = 1 and resets_at is not null'

/** Those whose owners were told how little is left, and who have not used up all. */
export const isNearLimit = (row: Row = '') =>
  `${isOpen(row)} and ${row}quota_notice > 0 and ${row}limited_at is null`

/** `now` is a parameter of the statement. */
export const isActive = (now: string, row: Row = '') =>
  `${isOpen(row)} and ${row}expires_at > ${now}`

/**
 * Whether a client belongs on its node: its subscription is active, and its owner is not banned. All clients of a node are read by a second
 * form of it (db/subscriptions.ts, CLIENTS_OF_NODE).
 */
export const isServed = (now: string, row: Row, owner: Row) =>
  `${isActive(now, row)} and ${owner}banned_at is null`

/** What of a customer follows from their subscriptions that are not revoked (schema/facts.ts). */
export const OF_SUBSCRIPTIONS = `max(CASE WHEN disabled_at IS NULL AND held_at IS NULL THEN expires_at END) AS last_end,
  count(CASE WHEN disabled_at IS NULL THEN held_at END) AS held, count(disabled_at) AS disabled`

/** A condition on `subscriptions` for a query. */
export const where = (condition: (row: Row) => string): SQL => sql.raw(condition('subscriptions.'))

/** The same of those that are active at `now`. */
export const whereActive = (now: unknown): SQL =>
  sql`${where(isOpen)} and ${sql.raw('subscriptions.expires_at')} > ${now}`

/** The same of those that are off and have time left: a held one keeps its time, so it never runs out. */
export const whereDisabledUnexpired = (now: unknown): SQL =>
  sql`${where(isDisabled)} and (subscriptions.held_at is not null or subscriptions.expires_at > ${now})`

/** The same of those that may be served again or still. */
export const whereUnexpired = (now: unknown): SQL =>
  sql`((${where(isHeld)}) or (${whereActive(now)}) or (${whereDisabledUnexpired(now)}))`

/** Whether a user is banned, as `user_summaries` keeps it: 0 or 1, in every engine. */
export const bannedFlag = (user: Row) => `case when ${user}banned_at is null then 0 else 1 end`
