/** Rows for tests, written behind the service's back. */
import type { World } from '#test/support/worlds/world.ts'

type Values = Record<string, string | number | null>

function insert(w: World, table: string, values: Values): void {
  const names = Object.keys(values)
  const marks = names.map(() => '?').join(', ')
  w.change(`insert into ${table} (${names.join(', ')}) values (${marks})`, ...Object.values(values))
}

/** The present as the database writes it. */
export const nowOf = (w: World): string => w.clock.now().toISOString().slice(0, 19)

/** A timestamp some seconds from now. */
export const inSeconds = (w: World, seconds: number): string =>
  new Date(w.clock.now().getTime() + seconds * 1000).toISOString().slice(0, 19)

export const DAY = 86_400

/** A user; gives their token. */
export function addUser(w: World, tgId: number, more: Values = {}): string {
  const token = `token-of-${tgId}-`.padEnd(43, 'x')
  insert(w, 'users', { tg_id: tgId, token, created_at: nowOf(w), ...more })
  return token
}

let subscriptions = 0

/** A subscription of 30 days on the local node, granted by an admin; gives its uuid. */
export function addSubscription(w: World, tgId: number, more: Values = {}): string {
  const uuid = `00000000-0000-4000-8000-${String(++subscriptions).padStart(12, '0')}`
  insert(w, 'subscriptions', {
    uuid,
    tg_id: tgId,
    node: 'de1',
    plan: '1m',
    expires_at: inSeconds(w, 30 * DAY),
    source: 'admin',
    created_at: nowOf(w),
    ...more,
  })
  return (more.uuid as string | undefined) ?? uuid
}

/** An external node that is active and enabled. */
export function addNode(w: World, code: string, more: Values = {}): string {
  insert(w, 'nodes', {
    code,
    label: `Label of ${code}`,
    kind: 'external',
    address: `${code}.nodes.test`,
    public_key: 'P'.repeat(43),
    short_id: 'ab12',
    sni: 'sni.test',
    sort_order: w.rows('select max(sort_order) + 1 as n from nodes')[0].n,
    created_at: nowOf(w),
    ...more,
  })
  return code
}

/** A host of a node, behind its others; gives its id. */
export function addHost(w: World, node: string, more: Values = {}): number {
  const [{ n }] = w.rows('select count(*) + 1 as n from node_hosts where node = ?', node)
  insert(w, 'node_hosts', {
    ...{ node, transport: 'reality', address: 'host.test', sort_order: n },
    ...more,
  })
  return w.rows('select max(id) as id from node_hosts')[0].id
}

/** A device of a user; gives its id. */
export function addDevice(w: World, tgId: number, hwid: string, more: Values = {}): number {
  insert(w, 'devices', {
    tg_id: tgId,
    hwid,
    created_at: nowOf(w),
    last_seen_at: nowOf(w),
    ...more,
  })
  return w.rows('select max(id) as id from devices')[0].id
}

/** A payment for a node. */
export function addPayment(w: World, more: Values = {}): void {
  insert(w, 'payments', {
    id: crypto.randomUUID(),
    tg_id: 1,
    node: 'de1',
    plan: '1m',
    provider: 'provider_a',
    amount: 199,
    currency: 'RUB',
    days: 30,
    created_at: nowOf(w),
    source: 'bot',
    ...more,
  })
}

export function putSettings(w: World, values: Record<string, string>): void {
  for (const [key, value] of Object.entries(values)) {
    w.change(
      'insert into settings (key, value) values (?, ?) on conflict (key) do update set value = excluded.value',
      key,
      value,
    )
  }
}

/** Credentials of a shop that were replaced. */
export function addFormerCredentials(w: World, values: Record<string, string>): void {
  insert(w, 'former_credentials', { shop_id: '', replaced_at: nowOf(w), ...values })
}

/** What a restore leaves: its generation, and nodes that are only added to. */
export function markRestored(w: World, generation: string, ...codes: string[]): void {
  w.change('update instance set generation = ?', generation)
  w.change('delete from add_only_nodes')
  for (const code of codes) insert(w, 'add_only_nodes', { code })
}

/** Names of the actions in the audit log, oldest first. */
export const auditOf = (w: World): string[] =>
  w.rows('select action from audit_log order by id').map((row) => row.action)

/** The outbound events, oldest first. */
export function eventsOf(w: World) {
  return w
    .rows('select event, status, data from events order by seq')
    .map((row) => ({ event: row.event, status: row.status, data: JSON.parse(row.data) }))
}
