import { describe, expect, test } from 'vitest'
import { STORED_TABLES } from '#db/rows.ts'
import type { Node } from '#db/schema/index.ts'
import { restoredTables } from '#db/upload.ts'
import { type ListEntry, type ListSource, listEntries } from '#src/domain/lists/entries.ts'
import { linksBody } from '#src/domain/lists/share-links.ts'
import { coreParameters } from '#src/domain/nodes/core-config.ts'
import { hysteriaParameters } from '#src/domain/nodes/hysteria-config.ts'
import { type SoundNode, soundNode } from '#src/domain/nodes/sound.ts'
import { coreConfig, hysteriaConfig } from '#src/domain/nodes/sync/program-1.ts'
import { configurationsOf } from '#src/domain/nodes/sync/programs.ts'
import { valuesOf } from '#src/domain/nodes/sync/values.ts'
import { CERT_PEM } from '#test/fixtures/lists/samples.ts'
import { addNode, addSubscription, addUser } from '#test/support/rows/records.ts'
import { createWorld } from '#test/support/worlds/world.ts'

const columnOf = (table: string, name: string) => {
  const column = STORED_TABLES.get(table)?.columns.find((one) => one.name === name)
  if (!column) throw new Error(`there is no ${table}.${name}`)
  return column
}

test('every table that a backup brings is declared', async () => {
  const w = await createWorld()
  expect([...STORED_TABLES.keys()].sort()).toEqual(restoredTables(w.s.db.raw))
  w.close()
})

describe('a column holds', () => {
  const transport = (fields: object) =>
    JSON.stringify([{ type: 'ws', port: 8443, path: '/x', ...fields }])
  const GRPC = '[{"type":"grpc","port":443,"service_name":"a.b"}]'
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const hash = `pbkdf2-sha256$200000$${'a'.repeat(22)}$${'b'.repeat(43)}`

  test.each<[table: string, column: string, yes: unknown[], no: unknown[]]>([
    ['nodes', 'code', ['de1', 'A-b_9'], ['', 'de1\n', 'x"', 'x'.repeat(33), null, 7]],
    ['subscriptions', 'disabled_at', [null, '2026-01-01T00:00:00'], ['', '2026-01-01', 1]],
    ['subscriptions', 'start_seconds', [null, 0, 3600], [-1, 1.5, '60']],
    ['subscriptions', 'start_by', [null, '2026-01-01T00:00:00'], ['soon', 1]],
    ['subscriptions', 'started_at', [null, '2026-01-01T00:00:00'], ['soon', 1]],
    ['subscriptions', 'node_changed_at', [null, '2026-01-01T00:00:00'], ['soon', 1]],
    ['subscriptions', 'plan_changed_at', [null, '2026-01-01T00:00:00'], ['soon', 1]],
    ['subscriptions', 'day_worth', [null, 0, 1e15], [-1, 1.5, '60']],
    ['payments', 'given_seconds', [null, 0, 3600], [-1, 1.5, '60']],
    ['gift_codes', 'start_seconds', [null, 1], [0, -1, '60']],
    ['plans', 'days', [0, 3650], [-1, 3651, null]],
    // Traffic brings none.
    ['payments', 'days', [0, 3650], [-1, 3651, null]],
    ['subscriptions', 'reminded', [0, 3], [-1, 4, 1.5, null]],
    ['nodes', 'label', ['Local', 'two\nlines'], ['', ' x', 'x'.repeat(129)]],
    ['nodes', 'port', [1, 65_535], [0, 65_536, 1.5, '443', null]],
    ['nodes', 'enabled', [0, 1], [2, -1, 'true', null]],
    ['nodes', 'kind', ['local'], ['other', null]],
    ['nodes', 'flow', ['', 'xtls-rprx-vision'], ['a b', 'x"']],
    ['nodes', 'private_key', ['', 'k'.repeat(43)], ['k', `${'k'.repeat(43)}\n`]],
    ['nodes', 'shared_uuid', [null, 'short'], ['', 'a b', 'AAAAAAAA-0000-0000-0000-000000000000']],
    ['nodes', 'host_key', [null, 'ssh-rsa AAAA\nssh-ed25519 BBBB='], ['AAAA', 'a b c', 'a b\n']],
    ['node_hosts', 'transport', ['reality', 'ws', 'xhttp', 'hysteria2'], ['kcp', '', null]],
    ['node_hosts', 'label', ['', 'CDN', 'Через CDN'], [' x', 'a\nb', 'x'.repeat(129), null]],
    [
      'node_hosts',
      'address',
      ['a.test', '192.0.2.1', '2001:db8::1', 'xn--e1afmkfd.xn--p1ai'],
      ['', 'a b', 'a/b', 'a:1', 'A.test', '[2001:db8::1]', 'пример.рф', '1.2.3', null],
    ],
    ['node_hosts', 'port', [null, 1, 65_535], [0, 65_536, '443']],
    ['node_hosts', 'sni', ['', 'a.test'], ['192.0.2.1', 'a b', null]],
    ['node_hosts', 'host', ['', 'a.test', '192.0.2.1'], ['a b', 'a/b', null]],
    [
      'node_hosts',
      'path',
      ['', '/', '/a/b?ed=2560', '/%20'],
      ['a', '/a b', '/"', "/'", '/#', '/a\n', `/${'x'.repeat(255)}`, null],
    ],
    ['node_hosts', 'fingerprint', ['', 'chrome', 'random'], ['android', null]],
    [
      'node_hosts',
      'formats',
      ['[]', '["links","xray"]', '["one-of-a-later-version"]'],
      ['{}', '["links","links"]', '["a b"]', '[1]', 'null', null],
    ],
    ['list_templates', 'format', ['mihomo', 'singbox'], ['xray', '', null]],
    [
      'list_templates',
      'body',
      ['{', 'a: 1\n', 'x'.repeat(32_768)],
      ['', 'a\0', '\ud800', 'x'.repeat(32_769), null],
    ],
    ['nodes', 'created_at', ['2024-02-29T23:59:59'], ['2023-02-29T00:00:00', '2024-01-01', 'now']],
    [
      'nodes',
      'transports_json',
      ['[]', transport({}), transport({ cert: CERT_PEM }), GRPC],
      [
        ...['', '[', '{}', 'null', null, transport({ port: '1' }), transport({ port: 1.5 })],
        ...[transport({ more: 1 }), transport({ cert: `${CERT_PEM}\nx` })],
        ...[transport({ path: '/"' }), transport({ type: 'tcp' })],
        ...[transport({ service_name: '' }), transport({ service_name: '/a' })],
        // Both behind the port of REALITY.
        `[${GRPC.slice(1, -1)},{"type":"xhttp","port":443,"path":"/x"}]`,
      ],
    ],
    ['nodes', 'hysteria_hop', [null, '1-65535', '7-7'], ['', '2-1', '1-65536', '1-2\n', '443']],
    ['nodes', 'hysteria_hopping', [0, 1], [2, null, 'yes']],
    ['admins', 'password_hash', [hash], [hash.replace('200000', '9999999'), 'x', '', null]],
    [
      'admins',
      'username',
      ['admin', 'é', ' a', 'x'.repeat(4608)],
      ['', 'adm\u202ein', 'a\nb', 'x'.repeat(4609)],
    ],
    ['subscriptions', 'uuid', ['00000000-0000-4000-8000-000000000001'], ['x', 'é', '"']],
    ['subscriptions', 'gift_code', [null, 'A'.repeat(16)], ['a'.repeat(16), '']],
    ['users', 'tg_id', [1, 2 ** 53 - 1, -1, -(2 ** 48)], [0, 1.5, 2 ** 53, -(2 ** 48) - 1]],
    ['users', 'telegram_id', [null, 1], [0, -1, 2 ** 53]],
    ['users', 'name', [null, 'Anna', 'Анна'], ['', ' Anna', 'a\nb', 'x'.repeat(65), 'e\u0301']],
    ['users', 'email', [null, 'a@b.test'], ['', 'a', 'A@b.test', 'a @b.test', '@', 'a@']],
    [
      'users',
      'tags',
      ['[]', '["vip","из Marzban"]'],
      [
        null,
        '',
        '{}',
        '[1]',
        '["a","a"]',
        '[""]',
        '[" a"]',
        '["e\u0301"]',
        `["${'x'.repeat(25)}"]`,
      ],
    ],
    ['user_tokens', 'kind', ['former', 'imported'], ['present', '', null]],
    ['users', 'device_removals', [null, '[]', '["2026-01-01T00:00:00"]'], ['["now"]', '{}']],
    ['users', 'link_resets', [null, '[]', '["2026-01-01T00:00:00"]'], ['["now"]', '{}']],
    [
      'payments',
      'external_id',
      ['', 'a-1:2.3', 'stx_a/b+c=='],
      ['a b', 'a\n', 'é', 'x'.repeat(1025)],
    ],
    [
      'orphan_payments',
      'amount',
      [null, '250', '199.00', '1.123456789012345678'],
      ['', '-1', '1.', '1,5', '1e9'],
    ],
    ['outbox', 'id', [1, 2 ** 48], [0, 2 ** 48 + 1, 2 ** 53 - 1]],
    ['payments', 'pay_url', [null, 'https://x.test/a?b'], ['javascript:1', 'https://x.test/\n']],
    ['events', 'data', ['{"a":1}', nested(16)], ['', '[]', 'null', '{', nested(17)]],
    ['payments', 'order_json', [null, '{}', nested(16)], ['[]', nested(17), nested(200_000)]],
    ['outbox', 'payload', ['{}', nested(16)], [null, nested(17), nested(200_000)]],
    [
      'management_key',
      'public_key',
      ['ssh-ed25519 AAAA subpanel', 'ssh-ed25519 AAAA\n'],
      ['ssh-ed25519 AAAA x\nssh-rsa BBBB', 'command="x" ssh-ed25519 AAAA', 'ssh-rsa AAAA'],
    ],
  ])('%s.%s', (table, name, yes, no) => {
    const { accepts } = columnOf(table, name)
    expect(yes.filter((value) => !accepts(value))).toEqual([])
    expect(no.filter(accepts)).toEqual([])
    // What was taken just before says nothing of the next.
    expect(yes.filter((value) => !accepts(value))).toEqual([])
  })
})

describe('a node', () => {
  test('is sound as requests and the first start write it', async () => {
    const w = await createWorld()
    addNode(w, 'ex1')
    const guide = { label: 'A', address: 'a.test', include_ws: true, include_hysteria2: true }
    await w.admin('/admin/api/nodes/provision-guide', { body: guide })
    const { listNodes } = await import('#db/nodes.ts')
    const nodes = await w.s.db.read(listNodes)
    expect(nodes.map((node) => soundNode(node).code)).toEqual(['de1', 'ex1', 'a'])
    w.close()
  })

  test('is refused with anything else, naming the column and not the value', async () => {
    const w = await createWorld()
    const { readNode } = await import('#db/nodes.ts')
    w.change("update nodes set sni = 'a\"b c'")
    const node = await w.s.db.read((q) => readNode(q, 'de1'))
    expect(() => soundNode(node as never)).toThrow(/^sni of nodes is nothing/)
    w.close()
  })

  test('that is not sound is in no list, script or file, and harms no other', async () => {
    const w = await createWorld()
    addNode(w, 'ex1', { flow: 'a"b' })
    addNode(w, 'nl1', {
      kind: 'managed',
      host_key: 'ssh-ed25519 AAAA"',
      provision_token: 'install-token',
      provision_expires_at: '2099-01-01T00:00:00',
    })
    const token = addUser(w, 7)
    addSubscription(w, 7, { node: 'ex1' })
    const other = addUser(w, 8)
    addSubscription(w, 8)
    const list = async (of: string) => (await w.call(`/sub/${of}?format=links`)).status
    expect([await list(token), await list(other)]).toEqual([500, 200])
    w.change("update plans set label = 'a' || char(10)")
    expect(await list(other)).toBe(500)
    w.change("update plans set label = 'a'")
    w.change("update subscriptions set uuid = 'x' where tg_id = 8")
    expect(await list(other)).toBe(500)
    expect((await w.call('/install/install-token.sh')).status).toBe(500)
    await w.s.writeKnownHosts()
    expect(w.knownHosts()).toBe('')
    w.close()
  })

  test('that is not sound tells its server nothing, and what is wrong with it is noted', async () => {
    const w = await createWorld()
    addNode(w, 'n1', { kind: 'managed', status: 'active', label: ' x' })
    const node = w.remote('n1')
    const synced = await w.s.nodeSync.syncAll({ force: true, remove: true })
    const error = 'label of nodes is nothing that may be written'
    expect(synced.map(({ code, error }) => [code, error])).toEqual([
      ['de1', null],
      ['n1', error],
    ])
    expect(node.calls.map(({ verb }) => verb)).toEqual(['status'])
    w.close()
  })

  test('and its copies with other values are no rows that renderers take, nor is one that was not looked at', () => {
    const target = () => 'target.test:443'
    // The compiler refuses each: a directive above a line that is right would be a fault itself.
    const refused = [
      // @ts-expect-error a row as the database gives it
      (node: Node) => coreParameters([node], target),
      // @ts-expect-error the same for program 1
      (node: Node) => coreConfig([node], target),
      // @ts-expect-error the same for both
      (node: Node) => configurationsOf(2, [node], target),
      // @ts-expect-error another port than was looked at
      (node: SoundNode) => coreParameters([{ ...node, port: 1 }], target),
      // @ts-expect-error a row as the database gives it
      (node: Node) => hysteriaParameters(node),
      // @ts-expect-error the same for program 1
      (node: Node) => hysteriaConfig(node),
      // @ts-expect-error the same for clients
      (node: Node) => valuesOf(node, 2),
      // @ts-expect-error a text as the database gives it
      (source: ListSource) => listEntries([{ ...source, uuid: 'x' }]),
      // @ts-expect-error an entry of somebody's own making
      (entry: ListEntry) => linksBody([{ ...entry, inbound: {} }]),
    ]
    expect(refused).toHaveLength(9)
  })
})
