/** Ways into nodes that lists name instead of a node's own: addresses of relays, further ones of its own, CDNs. */
import { autoId, bool, int, json, oneOf, table, text } from '../engine/columns.ts'
import { HOST_TRANSPORTS } from '../values.ts'

export const nodeHosts = table('node_hosts', {
  id: autoId('id'),
  node: text('node').notNull(),
  transport: oneOf('transport', HOST_TRANSPORTS).notNull(),
  /** What the entry is called; empty: as the transport's own. */
  label: text('label').notNull().default(''),
  address: text('address').notNull(),
  /** Null: the transport's own. */
  port: int('port'),
  /** Empty: the node's. Of WebSocket and XHTTP a name for which the address has a public certificate, as a CDN has. */
  sni: text('sni').notNull().default(''),
  /** The `Host` that is asked for; empty: the server name. */
  host: text('host').notNull().default(''),
  /** Empty: the transport's own. */
  path: text('path').notNull().default(''),
  /** Of the browser that a client passes for; empty: Chrome's. */
  fingerprint: text('fingerprint').notNull().default(''),
  enabled: bool('enabled').notNull().default(true),
  sortOrder: int('sort_order').notNull(),
  /** The list formats that have the entry; empty: all. */
  formats: json<string[]>('formats').notNull().default([]),
})

export type NodeHost = typeof nodeHosts.$inferSelect
