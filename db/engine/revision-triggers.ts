/**
 * The revision that says when what all connection lists share stops being true. Triggers, so that no write can forget it: not a
 * restore, not an operator's `sqlite3` or `psql`. Put in place at every start, because a table that a migration rebuilds loses its own.
 */
import type { Trigger } from './trigger.ts'

/**
 * Columns of a node that a connection list or a public page goes by, and its pinned keys; health columns change every minute and do not
 * count. Whether it was set up changes with its status alone.
 */
const NODE_COLUMNS = [
  'code',
  'label',
  'kind',
  'address',
  'port',
  'public_key',
  'short_id',
  'sni',
  'flow',
  'shared_uuid',
  'transports_json',
  'hysteria_port',
  'hysteria_password',
  'hysteria_obfs_password',
  'hysteria_hop',
  'hysteria_hopping',
  'core_version',
  'enabled',
  'status',
  'sort_order',
  'host_key',
  'down_since',
]

/** Of what was done with payments nothing is kept in memory. */
const INSTANCE_COLUMNS = ['instance_id', 'generation', 'pending_env', 'backup_key']

/** Tables that are kept in memory behind the revision, with the columns that count where not all do. */
const TABLES: Record<string, string[] | undefined> = {
  nodes: NODE_COLUMNS,
  plans: undefined,
  traffic_packs: undefined,
  node_groups: undefined,
  node_group_nodes: undefined,
  node_hosts: undefined,
  list_templates: undefined,
  settings: undefined,
  installation: undefined,
  instance: INSTANCE_COLUMNS,
}

export const KEPT_TABLES: ReadonlySet<string> = new Set(Object.keys(TABLES))

const AFTER = ['insert', 'delete', 'update'] as const

/** `body`: what counts the revision up. */
export const revisionTriggers = (body: string): Trigger[] =>
  Object.entries(TABLES).flatMap(([table, columns]) =>
    AFTER.map((after) => ({
      name: `revision_${table}_${after}`,
      table,
      after,
      ...(after === 'update' && columns ? { columns } : undefined),
      body,
      once: true,
    })),
  )

export const COUNT_LISTS = "update revisions set n = n + 1 where name = 'lists';"

export const FIRST_REVISION =
  "insert into revisions (name, n) values ('lists', 0) on conflict do nothing"
