/** What belongs to customers beside their rows: other links, codes to connect Telegram, the numbers that are given. */
import { index, int, oneOf, table, text } from './engine/columns.ts'
import { users } from './schema.ts'

/** Links beside the present one: of a customer who was merged into this one, or brought along from another panel. */
export const userTokens = table(
  'user_tokens',
  {
    token: text('token').primaryKey(),
    tgId: int('tg_id')
      .notNull()
      .references(() => users.tgId, { onDelete: 'cascade' }),
    kind: oneOf('kind', ['former', 'imported']).notNull(),
    format: text('format'),
    createdAt: text('created_at').notNull(),
  },
  (t) => [index('user_tokens_tg_id').on(t.tgId)],
)

/** The code by which a customer connects their Telegram account, one at a time. */
export const linkCodes = table('link_codes', {
  tgId: int('tg_id')
    .primaryKey()
    .references(() => users.tgId, { onDelete: 'cascade' }),
  /** SHA-256 of it. */
  code: text('code').notNull().unique(),
  expiresAt: text('expires_at').notNull(),
})

/** The last number that was given, by what is numbered. */
export const sequences = table('sequences', {
  name: text('name').primaryKey(),
  last: int('last').notNull(),
})
