/** Nodes, and what SSH needs of servers. */
import { bool, int, json, oneOf, primaryKey, table, text } from '../engine/columns.ts'
import type { Transport } from '../transport.ts'

export const nodes = table('nodes', {
  code: text('code').primaryKey(),
  label: text('label').notNull(),
  kind: oneOf('kind', ['local', 'managed', 'external']).notNull().default('external'),
  address: text('address').notNull(),
  port: int('port').notNull().default(443),
  publicKey: text('public_key').notNull().default(''),
  privateKey: text('private_key').notNull().default(''),
  shortId: text('short_id').notNull().default(''),
  sni: text('sni').notNull().default(''),
  flow: text('flow').notNull().default('xtls-rprx-vision'),
  sharedUuid: text('shared_uuid'),
  enabled: bool('enabled').notNull().default(true),
  status: oneOf('status', ['pending', 'active', 'failed']).notNull().default('active'),
  sortOrder: int('sort_order').notNull(),
  transportsJson: json<Transport[]>('transports_json').notNull().default([]),
  hysteriaPort: int('hysteria_port'),
  hysteriaPassword: text('hysteria_password'),
  hysteriaObfsPassword: text('hysteria_obfs_password'),
  /** The UDP ports among which clients hop, `20000-30000`. */
  hysteriaHop: text('hysteria_hop'),
  /** The node redirects them, as a pass found it last: from then on they are in lists. */
  hysteriaHopping: bool('hysteria_hopping').notNull().default(false),
  provisionToken: text('provision_token').unique(),
  provisionExpiresAt: text('provision_expires_at'),
  /** An install command waits to be run: the first one of the node, or one given out again. Null: none since an activation. */
  provisioning: oneOf('provisioning', ['first', 'again']),
  sshPort: int('ssh_port').notNull().default(22),
  sshUser: text('ssh_user'),
  /** The pinned host keys, `type base64` in lines. */
  hostKey: text('host_key'),
  /** The key that was presented last, where it is none of the pinned ones. */
  presentedHostKey: text('presented_host_key'),
  coreVersion: text('core_version'),
  /** The number of the node program, as a pass found it last; null before the first one. */
  program: int('program'),
  lastSeenAt: text('last_seen_at'),
  lastError: text('last_error'),
  /** Since when checks find it down; null again after the second in a row that does not. */
  downSince: text('down_since'),
  /** The last check of one that is down was a good one. */
  upOnce: bool('up_once').notNull().default(false),
  syncBlocked: bool('sync_blocked').notNull().default(false),
  /** Above 0: the node may lack a change, and is tried again soon. Counted up, so that an end that is noted late is noticed. */
  behind: int('behind').notNull().default(0),
  /** How much of its traffic counts against quotas, in hundredths: 0 is none of it. */
  trafficRatio: int('traffic_ratio').notNull().default(100),
  createdAt: text('created_at').notNull(),
})

/**
 * The codes of the nodes from which nothing is removed since the last restore until an admin sends `force`; a node that gets one of
 * them later is spared as well.
 */
export const addOnlyNodes = table('add_only_nodes', { code: text('code').primaryKey() })

/** Deleted nodes whose server is still to be cleaned. A server is one address with one port of its sshd. */
export const retiredNodes = table(
  'retired_nodes',
  {
    code: text('code').notNull(),
    address: text('address').notNull(),
    sshPort: int('ssh_port').notNull(),
    sshUser: text('ssh_user'),
    hostKey: text('host_key'),
    tries: int('tries').notNull().default(0),
    nextTryAt: text('next_try_at').notNull(),
    lastError: text('last_error'),
    createdAt: text('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.address, t.sshPort] })],
)

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

export type Node = typeof nodes.$inferSelect
export type RetiredNode = typeof retiredNodes.$inferSelect
export type KnownHost = typeof knownHosts.$inferSelect

/** Whether a server has been set up as this managed node: there is nothing to drive otherwise. One that is set up again goes on until then. */
export const isSetUp = ({ status, lastSeenAt }: Pick<Node, 'status' | 'lastSeenAt'>): boolean =>
  status === 'active' || lastSeenAt !== null
