/**
 * What is known of many rows without reading them: kept by triggers (engine/fact-triggers.ts) in the transaction that changes
 * the rows, made anew by engine/facts.ts. A restore does not take these tables from a backup.
 */
import { bool, index, int, primaryKey, sumKey, table, text } from '../engine/columns.ts'
import { sql } from '../engine/orm.ts'

/** Of each user what the listing filters and sorts by. */
export const userSummaries = table(
  'user_summaries',
  {
    tgId: int('tg_id').primaryKey(),
    createdAt: text('created_at').notNull(),
    banned: bool('banned').notNull(),
    /** The latest end of the user's subscriptions that are neither revoked, disabled nor held, past ones included; null without any. */
    lastEnd: text('last_end'),
    /** How many of the user's subscriptions are held. */
    held: int('held').notNull(),
    /** How many of them are disabled. */
    disabled: int('disabled').notNull().default(0),
  },
  (t) => [
    // Both have all columns: who walks or searches here visits no rows.
    index('user_summaries_created_at').on(
      t.createdAt,
      t.tgId,
      t.lastEnd,
      t.held,
      t.banned,
      t.disabled,
    ),
    index('user_summaries_last_end').on(
      t.lastEnd,
      t.held,
      t.createdAt,
      t.tgId,
      t.banned,
      t.disabled,
    ),
    index('user_summaries_held').on(t.createdAt, t.tgId).where(sql`held > 0`),
    index('user_summaries_disabled').on(t.createdAt, t.tgId).where(sql`disabled > 0`),
    index('user_summaries_banned').on(t.createdAt, t.tgId).where(sql`banned = 1`),
  ],
)

/** Who has a tag. */
export const userTags = table(
  'user_tags',
  { tag: text('tag').notNull(), tgId: int('tg_id').notNull() },
  (t) => [primaryKey({ columns: [t.tag, t.tgId] })],
)

/** How many subscriptions that are neither revoked, disabled nor held end on a day (UTC), by node and plan. */
export const endingCounts = table(
  'ending_counts',
  {
    day: text('day').notNull(),
    node: text('node').notNull(),
    plan: text('plan').notNull(),
    n: int('n').notNull(),
  },
  (t) => [sumKey('ending_counts_key', t.day, t.node, t.plan)],
)

/**
 * Sums by name and slot. `users`, `paid` and `revenue CURRENCY` have a slot for each quarter of an hour, `YYYY-MM-DDTHH:MM`: a day
 * begins on one in every time zone. `subscriptions` has `held`, `disabled` and `revoked`, `devices` has an empty one, `traffic` those of
 * fact-triggers.ts.
 */
export const tallies = table(
  'tallies',
  { name: text('name').notNull(), slot: text('slot').notNull(), n: int('n').notNull() },
  (t) => [sumKey('tallies_key', t.name, t.slot)],
)
