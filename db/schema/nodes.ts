/** Nodes, and what SSH needs of servers. */
import { bool, index, int, json, oneOf, primaryKey, table, text } from '../engine/columns.ts'
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

/** How the machine of a node is, as a pass found it last. */
export interface HostState {
  memTotalMb: number
  memUsedMb: number
  uptimeS: number
  load1: number
  cpuCount: number
  /** Bytes per second of its network since the pass before; null after a start. */
  rxRate: number | null
  txRate: number | null
}

/** How a node does at this moment, of each that was passed over. State of the moment: no backup has it. */
export const nodeLive = table('node_live', {
  node: text('node').primaryKey(),
  at: text('at').notNull(),
  /** How many clients were connected, or had traffic since the pass before. */
  online: int('online').notNull(),
  /** Bytes per second of its customers since the pass before; null where that is too long ago. */
  upRate: int('up_rate'),
  downRate: int('down_rate'),
  /** The sums of its counted traffic at the pass, from which the next rates are reckoned. */
  upBytes: int('up_bytes').notNull(),
  downBytes: int('down_bytes').notNull(),
  /** What the machine's network had carried at it. */
  rxBytes: int('rx_bytes'),
  txBytes: int('tx_bytes'),
  /** Null where its program does not tell. */
  host: json<HostState>('host_json'),
  coreUptimeS: int('core_uptime_s'),
  /** The rates of the last passes, oldest first, the newest one included. */
  spark: json<{ up: number; down: number }[]>('spark_json').notNull(),
})

/** How many checks of a day found a node up, and how many down. */
export const nodeUptime = table(
  'node_uptime',
  {
    node: text('node').notNull(),
    /** `YYYY-MM-DD`, UTC. */
    day: text('day').notNull(),
    ok: int('ok').notNull().default(0),
    bad: int('bad').notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.node, t.day] }), index('node_uptime_day').on(t.day)],
)

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
export type NodeUptime = typeof nodeUptime.$inferSelect
export type NodeLive = typeof nodeLive.$inferSelect
export type RetiredNode = typeof retiredNodes.$inferSelect
export type KnownHost = typeof knownHosts.$inferSelect

/** Whether a server has been set up as this managed node: there is nothing to drive otherwise. One that is set up again goes on until then. */
export const isSetUp = ({ status, lastSeenAt }: Pick<Node, 'status' | 'lastSeenAt'>): boolean =>
  status === 'active' || lastSeenAt !== null

/** Whether a server is sold, offered and given as a home: one that is switched on, once somebody can connect to it. */
export const isSoldNode = (node: Pick<Node, 'enabled' | 'status' | 'lastSeenAt'>): boolean =>
  node.enabled && isSetUp(node)
