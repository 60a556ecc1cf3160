/** Uploads that a restore must refuse, each made from a good backup's files. */
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { changedDatabase, END, gnuTar, type RawMember, rawTar, rawTarGz } from './archives.ts'
import { LOOPING_DATABASES } from './looping-databases.ts'

export interface Good {
  database: Buffer
  env: Buffer
}

type Make = (good: Good) => Uint8Array

/** An archive whose database was changed by SQL. */
const sql =
  (statements: string): Make =>
  ({ database, env }) =>
    gnuTar({ 'panel.db': changedDatabase(database, statements), '.env': env })

/** A good archive and one more member before it. */
const beside =
  (member: RawMember): Make =>
  ({ database }) =>
    rawTarGz([member, { name: 'panel.db', content: database }])

/** A good archive whose database has other header fields. */
const header =
  (fields: Partial<RawMember>): Make =>
  ({ database }) =>
    rawTarGz([{ name: 'panel.db', content: database, ...fields }])

const database = (make: (good: Buffer) => Uint8Array): Make => {
  return (good) => gnuTar({ 'panel.db': make(good.database), '.env': good.env })
}

const after =
  (bytes: Uint8Array): Make =>
  (good) =>
    Buffer.concat([rawTarGz([{ name: 'panel.db', content: good.database }]), bytes])

/** Zeros as a base-256 number of twelve bytes, but for its sign. */
const NEGATIVE = `\xff${'\xff'.repeat(10)}\xf0`

export const BAD_ARCHIVES: [name: string, make: Make, message: RegExp][] = [
  ['nothing', () => new Uint8Array(), /no gzip archive/],
  ['no gzip', () => randomBytes(5000), /no gzip archive/],
  ['a gzip of nothing', () => gzipSync(''), /cut off/],
  ['a gzip of noise', () => gzipSync(randomBytes(50_000)), /checksum/],
  [
    'a gzip that is cut off',
    (good) => gnuTar({ 'panel.db': good.database }).subarray(0, -200),
    /cut off|follows/,
  ],
  [
    'a gzip with a flipped bit',
    (good) => {
      const archive = gnuTar({ 'panel.db': good.database })
      const at = archive.length >> 1
      archive[at] = (archive[at] as number) ^ 16
      return archive
    },
    /damaged|checksum|wrong|follows/,
  ],
  ['junk after the gzip', after(randomBytes(500)), /damaged|follows/],
  [
    'a second gzip after it',
    after(rawTarGz([{ name: '.env', content: 'A=1' }])),
    /damaged|follows/,
  ],
  ['an empty second gzip after it', after(gzipSync(Buffer.alloc(512))), /damaged|follows/],
  ['a name that leaves the folder', beside({ name: '../.env', content: 'A=1' }), /no backup has/],
  ['an absolute name', beside({ name: '/etc/passwd', content: 'x' }), /no backup has/],
  [
    'a name that leaves it by its prefix',
    beside({ name: '.env', prefix: '..', content: 'x' }),
    /no backup has/,
  ],
  ['a name of two parts', beside({ name: '.env\0x', content: 'x' }), /no backup has/],
  ['a name of every object', beside({ name: '__proto__', content: 'x' }), /no backup has/],
  ['an unknown file', ({ database: d }) => gnuTar({ 'panel.db': d, id_rsa: 'x' }), /no backup has/],
  ['a symbolic link', beside({ name: '.env', type: '2', link: '/etc/shadow' }), /no plain file/],
  ['a hard link', beside({ name: '.env', type: '1', link: 'panel.db' }), /no plain file/],
  [
    'a link that calls itself a file',
    beside({ name: '.env', link: '/etc/shadow' }),
    /no plain file/,
  ],
  ['a device', beside({ name: '.env', type: '3' }), /no plain file/],
  ['a folder', beside({ name: '.env', type: '5' }), /no plain file/],
  [
    'a pax header',
    ({ database: d, env }) => gnuTar({ 'panel.db': d, '.env': env }, ['--format=pax']),
    /no plain file/,
  ],
  [
    'a global pax header',
    beside({ name: '.env', type: 'g', content: '30 path=../../etc/passwd\n' }),
    /no plain file/,
  ],
  [
    "GNU's long name",
    beside({ name: '././@LongLink', type: 'L', content: '.env' }),
    /no plain file/,
  ],
  ['a sparse file', beside({ name: '.env', type: 'S' }), /no plain file/],
  ['a file twice', beside({ name: 'panel.db', content: 'x' }), /twice/],
  ['a file twice by another name', beside({ name: './panel.db', content: 'x' }), /twice/],
  ['an unknown kind of tar', header({ magic: '\0\0\0\0\0\0\0\0' }), /unknown kind/],
  ['a wrong checksum', header({ checksum: '000000\0 ' }), /checksum/],
  ['no checksum', header({ checksum: '        ' }), /checksum/],
  ['a negative size', header({ size: '-0000000001\0' }), /size/],
  ['a negative size in base 256', header({ size: NEGATIVE }), /size/],
  ['a size that is no number', header({ size: '0000000008x\0' }), /size/],
  ['an empty size', header({ size: '\0'.repeat(12) }), /size/],
  ['a size beyond the archive', header({ size: '00077777777\0' }), /cut off/],
  ['a size of 100 GB', header({ size: `\x80${'\0'.repeat(6)}\x17\x48\x76\xe8\0` }), /too large/],
  [
    'no end',
    ({ database: d }) => rawTarGz([{ name: 'panel.db', content: d }], Buffer.alloc(0)),
    /cut off/,
  ],
  [
    'half an end',
    ({ database: d }) => rawTarGz([{ name: 'panel.db', content: d }], Buffer.alloc(512)),
    /cut off/,
  ],
  [
    'something after the end',
    ({ database: d }) =>
      rawTarGz([{ name: 'panel.db', content: d }], Buffer.concat([END, Buffer.from('x')])),
    /follows/,
  ],
  [
    'another archive after the end',
    ({ database: d, env }) =>
      rawTarGz(
        [{ name: 'panel.db', content: d }],
        Buffer.concat([END, rawTar([{ name: '.env', content: env }])]),
      ),
    /follows/,
  ],
  [
    'megabytes of zeros after the end',
    ({ database: d }) => rawTarGz([{ name: 'panel.db', content: d }], Buffer.alloc(40 * 1024 ** 2)),
    /too large/,
  ],
  [
    'a bomb of 1000:1',
    () => rawTarGz([{ name: 'panel.db', content: Buffer.alloc(64 * 1024 ** 2) }]),
    /not one of Subpanel/,
  ],
  [
    'a bomb in the env file',
    beside({ name: '.env', content: Buffer.alloc(64 * 1024 ** 2) }),
    /too large/,
  ],
  ['no database', ({ env }) => gnuTar({ '.env': env }), /no database/],
  ['an empty database', database(() => Buffer.alloc(0)), /not one of Subpanel/],
  [
    'a text as the database',
    database(() => Buffer.from('not a database'.repeat(1000))),
    /not one of Subpanel/,
  ],
  [
    'an empty SQLite file',
    database((good) =>
      changedDatabase(Buffer.alloc(0), `create table t(x); drop table t; -- ${good.length}`),
    ),
    /not one of Subpanel/,
  ],
  [
    'a database of another program',
    database(() =>
      changedDatabase(Buffer.alloc(0), 'create table users (id integer primary key, name text)'),
    ),
    /not one of Subpanel/,
  ],
  [
    'a database with a damaged page',
    database((good) => Buffer.from(good).fill(0x5a, 4096, 4096 * 40)),
    /damaged|form|not one/,
  ],
  ...LOOPING_DATABASES.map(([name, make]): [string, Make, RegExp] => [
    name,
    database(make),
    /damaged/,
  ]),
  ['a database that is cut off', database((good) => good.subarray(0, 4096 * 30)), /damaged/],
  [
    'a database of a newer version',
    sql("insert into __drizzle_migrations (hash, created_at) values ('x', 99999999999999)"),
    /newer version/,
  ],
  [
    'a database with other migrations',
    sql('update __drizzle_migrations set created_at = created_at - 1'),
    /not one of Subpanel/,
  ],
  ['a database without a table', sql('drop table gift_codes'), /lacks a table/],
  [
    'a table with a further column',
    sql("alter table users add evil text default 'x'"),
    /another form/,
  ],
  [
    'a table with a computed column',
    sql('alter table users add evil text as (upper(token))'),
    /another form/,
  ],
  [
    'a table with another rule',
    sql(
      'drop table plans; create table plans (code text primary key check (randomblob(1000000000) is null), label text not null, days integer not null, price integer not null, price_stars integer, sort_order integer not null, archived integer not null default 0)',
    ),
    /another form/,
  ],
  [
    'a view in place of a table',
    sql('alter table devices rename to d2; create view devices as select * from d2'),
    /lacks a table/,
  ],
  [
    'a virtual table in place of one',
    sql('drop table plans; create virtual table plans using fts5(code, label)'),
    /lacks a table/,
  ],
  [
    'a number where a text must be',
    sql("insert into audit_log (at, ip, action) values (x'00', '', '')"),
    /wrong kind/,
  ],
  [
    'bytes that are no text',
    sql("update admins set username = cast(x'616263ff' as text)"),
    /wrong kind/,
  ],
  [
    'a group with two local nodes',
    sql(`insert into nodes (code, label, kind, address, sort_order, created_at)
           values ('de2', 'x', 'local', 'x', 9, '2026-01-01T00:00:00');
         insert into node_groups (code, label, sort_order, created_at)
           values ('all', 'All', 1, '2026-01-01T00:00:00');
         insert into node_group_nodes values ('all', 'de1'), ('all', 'de2')`),
    /two local nodes/,
  ],
  [
    'a subscription on two local nodes',
    sql(`insert into nodes (code, label, kind, address, sort_order, created_at)
           values ('de2', 'x', 'local', 'x', 9, '2026-01-01T00:00:00');
         insert into node_groups (code, label, sort_order, created_at)
           values ('all', 'All', 1, '2026-01-01T00:00:00');
         insert into node_group_nodes values ('all', 'de2');
         insert into users (tg_id, token, created_at)
           values (77777, '${'t'.repeat(43)}', '2026-01-01T00:00:00');
         insert into subscriptions (uuid, tg_id, node, node_group, plan, expires_at, source, created_at)
           values ('00000000-0000-4000-8000-0000000abcde', 77777, 'de1', 'all', '1m', '2027-01-01T00:00:00', 'admin',
             '2026-01-01T00:00:00')`),
    /two local nodes/,
  ],
  ['a text where a number must be', sql("update plans set days = 'many'"), /wrong kind/],
  ['a time that is none', sql("update admins set created_at = 'yesterday'"), /wrong kind/],
  ['JSON that is none', sql("update nodes set transports_json = '['"), /wrong kind/],
  [
    'an order of a payment that is no JSON',
    sql(`insert into payments (id, tg_id, node, plan, provider, amount, currency, days, created_at, source, order_json)
      values ('p', 1, 'de1', '1m', 'provider_a', 199, 'RUB', 30, '2026-01-01T00:00:00', 'bot', '{')`),
    /wrong kind/,
  ],
  [
    'a payment of a provider that this version does not have',
    sql(`insert into payments (id, tg_id, node, plan, provider, amount, currency, days, created_at, source)
      values ('p', 1, 'de1', '1m', 'provider_z', 199, 'RUB', 30, '2026-01-01T00:00:00', 'bot')`),
    /wrong kind in the column provider of payments/,
  ],
  [
    'removed devices that are no JSON',
    sql(`insert into users (tg_id, token, created_at, device_removals)
      values (4242, 'token', '2026-01-01T00:00:00', '[')`),
    /wrong kind/,
  ],
  [
    'two customers with one Telegram id',
    sql(`drop index users_telegram_id_unique; insert into users (tg_id, telegram_id, token, created_at)
      values (-1, 70, 'one', '2026-01-01T00:00:00'), (-2, 70, 'two', '2026-01-01T00:00:00')`),
    /damaged/,
  ],
  ['a text of 2 MB', sql('update nodes set label = hex(zeroblob(1000000))'), /wrong kind/],
  [
    'a text of 50 MB',
    sql('update nodes set label = cast(zeroblob(50000000) as text)'),
    /wrong kind/,
  ],
  [
    'a row that points nowhere',
    sql(
      "insert into devices (tg_id, hwid, created_at, last_seen_at) values (1, 'hhhhhhhhhh', '2026-01-01T00:00:00', '2026-01-01T00:00:00')",
    ),
    /damaged/,
  ],
  [
    'two rows where one may be',
    sql(
      "drop index admins_username; insert into admins (username, password_hash, created_at) values ('ADMIN', 'x', '2026-01-01T00:00:00')",
    ),
    /damaged/,
  ],
  [
    'a database without an admin',
    sql('delete from admin_sessions; delete from admins'),
    /no admin/,
  ],
  [
    'an env file that is no text',
    ({ database: d }) => gnuTar({ 'panel.db': d, '.env': Buffer.from([0x41, 0x3d, 0xff, 0xfe]) }),
    /no text/,
  ],
  [
    'an env file of 1 MB',
    ({ database: d }) => gnuTar({ 'panel.db': d, '.env': 'A=1\n'.repeat(300_000) }),
    /too large/,
  ],
]
