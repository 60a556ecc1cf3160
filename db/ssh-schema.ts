/** The tables of what SSH needs beside the nodes themselves: a part of schema.ts in a file of its own. */
import { int, primaryKey, table, text } from './engine/columns.ts'

export const knownHosts = table(
  'known_hosts',
  {
    host: text('host').notNull(),
    port: int('port').notNull(),
    keyType: text('key_type').notNull(),
    key: text('key').notNull(),
    createdAt: text('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.host, t.port, t.keyType] })],
)

/** One row: the ed25519 key with which the panel manages its nodes. */
export const managementKey = table('management_key', {
  id: int('id').primaryKey(),
  privateKey: text('private_key').notNull(),
  publicKey: text('public_key').notNull(),
  createdAt: text('created_at').notNull(),
})

export type KnownHost = typeof knownHosts.$inferSelect
