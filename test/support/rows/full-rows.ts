/** A world with a row in every table that a backup brings, and texts that should be nothing but texts. */
import { hashPassword } from '#src/lib/crypto.ts'
import { CERT_PEM } from '#test/fixtures/lists/samples.ts'
import { CORPUS } from '#test/support/hostile-texts.ts'
import type { World } from '#test/support/worlds/world.ts'
import {
  addDevice,
  addNode,
  addPayment,
  addSubscription,
  addUser,
  inSeconds,
  nowOf,
} from './records.ts'

/** Where one of them is run, a file of this name is made or `globalThis.ran` set. */
/** Made once: 200,000 iterations. */
const otherHash = hashPassword('another password')

export const CANARY = 'canary-of-a-hostile-row'

export const HOSTILE_TEXTS: [name: string, text: string][] = [
  [
    'lines',
    `a\n@clients zz@\r\n]},\n"log":{"error":"@dir@/node.conf"},\nCORE_RESTART=touch ${CANARY}`,
  ],
  ['placeholders', `@clients x@ @api@ @dir@ {{TOKEN}} '{{TOKEN}}' %s%n`],
  ['a shell', `'; touch ${CANARY}; "$(touch ${CANARY})\`touch ${CANARY}\` && touch ${CANARY} #`],
  ['a shell without spaces', `';touch\${IFS}${CANARY};"$(touch\${IFS}${CANARY})\``],
  ['JSON', '"},"admin":true,{"a":["'],
  ['YAML', '"\n- !!js/function x\n&a *a: {b: c} # %TAG'],
  ['a path', '../../../../etc/passwd'],
  ['HTML', CORPUS.tags],
  ['an attribute', CORPUS.attributes],
  ['an address', CORPUS.addresses],
  ['a formula', "=cmd|' /C calc'!A0;=1,@SUM(1),+1,-1\t=1"],
  ['NUL', 'a\0b'],
  ['a terminal', '\u001b[31mred\u001b]0;title\u0007\b'],
  ['direction', '\u202egnp.exe\u2066\u200f\ufeff\u2028x'],
  ['half a character', 'a\ud800b'],
  ['10 kB', 'x"\'<'.repeat(2500)],
]

const FORMER = {
  ...{ provider: 'provider_b', shop_id: 'm1', secret: 's1' },
  ...{ preset: 'generic', api_url: 'https://b.test/api' },
}

/** Puts a row in every table. */
export async function fillEveryTable(w: World): Promise<void> {
  const at = nowOf(w)
  const insert = (table: string, values: Record<string, string | number>) =>
    w.change(
      `insert into ${table} (${Object.keys(values).join(', ')}) values (${Object.keys(values)
        .map(() => '?')
        .join(', ')})`,
      ...Object.values(values),
    )
  addNode(w, 'ex1', {
    transports_json: JSON.stringify([
      { type: 'ws', port: 8443, path: '/ws', cert: CERT_PEM },
      { type: 'xhttp', port: 443, path: '/xh' },
      { type: 'hysteria2', port: 8444, cert: CERT_PEM },
    ]),
    hysteria_password: 'password',
    hysteria_obfs_password: 'obfs',
    hysteria_hop: '20000-30000',
    hysteria_hopping: 1,
  })
  addNode(w, 'nl1', {
    kind: 'managed',
    status: 'active',
    private_key: 'k'.repeat(43),
    provision_token: 'install-token',
    provision_expires_at: inSeconds(w, 3600),
    host_key: 'ssh-ed25519 AAAA',
    last_seen_at: at,
    down_since: at,
  })
  insert('node_groups', { code: 'all', label: 'All', sort_order: 1, created_at: at })
  insert('node_group_nodes', { group_code: 'all', node: 'nl1' })
  insert('list_templates', { format: 'mihomo', body: 'mode: rule\n', updated_at: at })
  insert('node_hosts', {
    ...{
      node: 'ex1',
      transport: 'ws',
      label: 'CDN',
      address: 'cdn.test',
      port: 443,
      sni: 'cdn.test',
    },
    ...{
      host: 'cdn.test',
      path: '/x',
      fingerprint: 'firefox',
      sort_order: 1,
      formats: '["links"]',
    },
  })
  w.change("update plans set node_group = 'all' where code = '3m'")
  w.change(
    "update plans set quota_gb = 5, quota_period = 'month', hwid_limit = 3 where code = '6m'",
  )
  w.change("update nodes set traffic_ratio = 150 where code = 'nl1'")
  addUser(w, 7, { username: 'alice', lang: 'en', note: 'a note' })
  addUser(w, -3, { telegram_id: 70, name: 'Bob', email: 'bob@mail.test', tags: '["vip"]' })
  insert('settings', { key: 'LEGAL_NAME', value: 'x' })
  insert('open_alerts', { name: 'disk' })
  insert('add_only_nodes', { code: 'nl1' })
  insert('former_credentials', { ...FORMER, replaced_at: at })
  insert('sequences', { name: 'customers', last: 3 })
  insert('user_tokens', { token: 'former', tg_id: 7, kind: 'former', format: 'x', created_at: at })
  insert('link_codes', { tg_id: 7, code: 'd'.repeat(64), expires_at: at })
  const uuid = addSubscription(w, 7)
  addSubscription(w, 7, { node: 'ex1' })
  addSubscription(w, 7, { node: 'nl1', node_group: 'all' })
  addSubscription(w, 7, {
    ...{ quota_bytes: 5, quota_period: 'rolling', quota_anchor: at, resets_at: at, limited_at: at },
    ...{ used_bytes: 9, used_rest: 1, extra_bytes: 2, quota_notice: 100 },
  })
  addDevice(w, 7, 'device-0001', { device_os: 'iOS', device_model: 'x', user_agent: 'x' })
  addPayment(w, {
    id: 'p1',
    tg_id: 7,
    failed_reason: 'x',
    review_reason: 'x',
    shop_id: 'x',
    node_group: 'all',
    kind: 'traffic',
    pack: '50gb',
    extra_bytes: 50,
  })
  insert('traffic_packs', { code: '50gb', label: '50 GB', gb: 50, price: 99, sort_order: 1 })
  const password_hash = await otherHash
  insert('admins', { id: 2, username: 'second', password_hash, created_at: at })
  insert('pending_logins', { token: 'a'.repeat(64), admin_id: 2, expires_at: at })
  insert('admin_devices', { token: 'b'.repeat(64), admin_id: 2, created_at: at, last_seen_at: at })
  insert('recovery_codes', { admin_id: 2, code: 'c'.repeat(64) })
  insert('gift_codes', {
    code: 'A'.repeat(16),
    node: 'de1',
    plan: '1m',
    node_group: 'all',
    created_at: at,
  })
  insert('outbox', { tg_id: 7, kind: 'alert', payload: '{}', next_try_at: at, created_at: at })
  insert('events', { id: 'e1', event: 'node.added', data: '{}', status: 'done', created_at: at })
  insert('orphan_payments', { provider: 'provider_a', external_id: 'o1', found_at: at })
  insert('audit_log', { at, admin: 'admin', ip: '::1', action: 'login' })
  insert('traffic_samples', { node: 'de1', day: '2026-02-28' })
  insert('node_uptime', { node: 'de1', day: '2026-02-28', ok: 1 })
  insert('counters', { core: 'local', uuid, epoch: 'e', up: 1, down: 1 })
  insert('readings', { core: 'local', reading: 'r' })
  insert('retired_nodes', {
    ...{ code: 'old', address: 'old.test', ssh_port: 22, next_try_at: at, created_at: at },
    host_key: 'ssh-ed25519 BBBB',
  })
  insert('known_hosts', {
    host: 'h.test',
    port: 22,
    key_type: 'ssh-ed25519',
    key: 'AAAA',
    created_at: at,
  })
}
