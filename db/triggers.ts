/**
 * Revisions that say when a kept connection list stops being true. Triggers, so that no write can forget them: not a
 * restore, not an operator's `sqlite3`. Created at every start, because a table rebuilt by a migration loses its own.
 */

const LISTS = "UPDATE revisions SET n = n + 1 WHERE name = 'lists'"

const bumpUser = (row: 'NEW' | 'OLD') =>
  `UPDATE users SET revision = revision + 1 WHERE tg_id = ${row}.tg_id`

/** Columns of a node that a connection list or a public page shows; health columns change every minute and do not count. */
const NODE_COLUMNS =
  'code, label, kind, address, port, public_key, short_id, sni, flow, shared_uuid, transports_json, hysteria_port, hysteria_password, hysteria_obfs_password, core_version, enabled, sort_order'

/** Traffic counts too: it is in the list's `subscription-userinfo`. */
const SUBSCRIPTION_COLUMNS =
  'uuid, tg_id, node, plan, expires_at, active, held_at, up_bytes, down_bytes'

const TRIGGERS: Record<string, string> = {
  subscriptions_insert: `AFTER INSERT ON subscriptions BEGIN ${bumpUser('NEW')}; END`,
  subscriptions_delete: `AFTER DELETE ON subscriptions BEGIN ${bumpUser('OLD')}; END`,
  subscriptions_update: `AFTER UPDATE OF ${SUBSCRIPTION_COLUMNS} ON subscriptions BEGIN ${bumpUser('OLD')}; UPDATE users SET revision = revision + 1 WHERE tg_id = NEW.tg_id AND NEW.tg_id <> OLD.tg_id; END`,
  users_banned: `AFTER UPDATE OF banned_at, token ON users BEGIN ${bumpUser('NEW')}; END`,
  nodes_insert: `AFTER INSERT ON nodes BEGIN ${LISTS}; END`,
  nodes_delete: `AFTER DELETE ON nodes BEGIN ${LISTS}; END`,
  nodes_update: `AFTER UPDATE OF ${NODE_COLUMNS} ON nodes BEGIN ${LISTS}; END`,
  plans_insert: `AFTER INSERT ON plans BEGIN ${LISTS}; END`,
  plans_delete: `AFTER DELETE ON plans BEGIN ${LISTS}; END`,
  plans_update: `AFTER UPDATE ON plans BEGIN ${LISTS}; END`,
  settings_insert: `AFTER INSERT ON settings BEGIN ${LISTS}; END`,
  settings_delete: `AFTER DELETE ON settings BEGIN ${LISTS}; END`,
  settings_update: `AFTER UPDATE ON settings BEGIN ${LISTS}; END`,
}

/** The statements that put every trigger in its present form. */
export const TRIGGER_STATEMENTS: string[] = [
  "INSERT INTO revisions (name, n) VALUES ('lists', 0) ON CONFLICT DO NOTHING",
  ...Object.entries(TRIGGERS).flatMap(([name, body]) => [
    `DROP TRIGGER IF EXISTS revision_${name}`,
    `CREATE TRIGGER revision_${name} ${body}`,
  ]),
]
