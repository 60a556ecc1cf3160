/**
 * The revision that says when what all connection lists share stops being true. Triggers, so that no write can forget it: not a
 * restore, not an operator's `sqlite3`. Created at every start, because a table rebuilt by a migration loses its own.
 */

const LISTS = "UPDATE revisions SET n = n + 1 WHERE name = 'lists'"

/** Columns of a node that a connection list or a public page shows, and its pinned keys; health columns change every minute and do not count. */
const NODE_COLUMNS =
  'code, label, kind, address, port, public_key, short_id, sni, flow, shared_uuid, transports_json, hysteria_port, hysteria_password, hysteria_obfs_password, core_version, enabled, sort_order, host_key'

const TRIGGERS: Record<string, string> = {
  nodes_insert: `AFTER INSERT ON nodes BEGIN ${LISTS}; END`,
  nodes_delete: `AFTER DELETE ON nodes BEGIN ${LISTS}; END`,
  nodes_update: `AFTER UPDATE OF ${NODE_COLUMNS} ON nodes BEGIN ${LISTS}; END`,
  plans_insert: `AFTER INSERT ON plans BEGIN ${LISTS}; END`,
  plans_delete: `AFTER DELETE ON plans BEGIN ${LISTS}; END`,
  plans_update: `AFTER UPDATE ON plans BEGIN ${LISTS}; END`,
  settings_insert: `AFTER INSERT ON settings BEGIN ${LISTS}; END`,
  settings_delete: `AFTER DELETE ON settings BEGIN ${LISTS}; END`,
  settings_update: `AFTER UPDATE ON settings BEGIN ${LISTS}; END`,
  // Its secret is kept in memory behind the same revision.
  installation_insert: `AFTER INSERT ON installation BEGIN ${LISTS}; END`,
  installation_delete: `AFTER DELETE ON installation BEGIN ${LISTS}; END`,
  installation_update: `AFTER UPDATE ON installation BEGIN ${LISTS}; END`,
  // So is this, but for what was done with payments.
  instance_insert: `AFTER INSERT ON instance BEGIN ${LISTS}; END`,
  instance_delete: `AFTER DELETE ON instance BEGIN ${LISTS}; END`,
  instance_update: `AFTER UPDATE OF instance_id, generation, pending_env, backup_key ON instance BEGIN ${LISTS}; END`,
}

/** The statements that put every trigger in its present form. */
export const TRIGGER_STATEMENTS: string[] = [
  "INSERT INTO revisions (name, n) VALUES ('lists', 0) ON CONFLICT DO NOTHING",
  ...Object.entries(TRIGGERS).flatMap(([name, body]) => [
    `DROP TRIGGER IF EXISTS revision_${name}`,
    `CREATE TRIGGER revision_${name} ${body}`,
  ]),
]
