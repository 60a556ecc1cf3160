/** What every pass goes through is bounded: forms refuse one more, and a restore an archive with more. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MOST_ROWS } from '#db/listing.ts'
import { upload } from '#test/support/archives/archives.ts'
import { archiveOf } from '#test/support/calls/restores.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import type { World } from '#test/support/worlds/world.ts'

type Table = keyof typeof MOST_ROWS

/** Fills a table up to so many rows by copies of its first. */
function fill(w: World, table: Table, most: number): void {
  const columns: string[] = w
    .rows(`select name from pragma_table_info('${table}')`)
    .map((row) => row.name)
  const uniques = { admins: 'username', node_hosts: null } as const
  const unique = table in uniques ? uniques[table as keyof typeof uniques] : 'code'
  const empty = new Set(['id', 'provision_token'])
  const values = columns.map((name) =>
    name === unique ? "'copy-' || n" : empty.has(name) ? 'null' : `"${name}"`,
  )
  const list = columns.map((name) => `"${name}"`).join(', ')
  if (table === 'node_groups')
    w.change(
      `insert into node_groups (code, label, sort_order, created_at) values ('first', 'First', 1, '2026-01-01T00:00:00')`,
    )
  if (table === 'node_hosts')
    w.change(
      `insert into node_hosts (node, transport, address, sort_order) values ('de2', 'reality', 'a.test', 1)`,
    )
  if (table === 'traffic_packs')
    w.change(
      `insert into traffic_packs (code, label, gb, price, sort_order) values ('first', 'First', 1, 1, 1)`,
    )
  const [{ n: present }] = w.rows(`select count(*) as n from ${table}`)
  w.change(
    `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${most - present})
     insert into ${table} (${list}) select ${values.join(', ')} from numbers,
       (select * from ${table} limit 1)`,
  )
}

const REALITY = { public_key: 'P'.repeat(43), short_id: 'ab', sni: 's.test' }
const FORMS: [name: string, table: Table, path: string, body: object][] = [
  ['a node', 'nodes', 'nodes', { code: 'new', label: 'New', address: 'new.test', ...REALITY }],
  ['a server', 'nodes', 'nodes/provision-guide', { label: 'New', address: '192.0.2.1' }],
  ['a group', 'node_groups', 'node-groups', { code: 'new', label: 'New', nodes: [] }],
  ['a host', 'node_hosts', 'nodes/de1/hosts', { transport: 'reality', address: 'new.test' }],
  ['a plan', 'plans', 'plans', { code: 'new', label: 'New', days: 1, price: 1 }],
  ['a pack', 'traffic_packs', 'traffic-packs', { code: 'new', label: 'New', gb: 1, price: 1 }],
  ['an admin', 'admins', 'admins', { username: 'another', password: 'a long enough password' }],
]

let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld()
})
afterEach(() => w.close())

describe('one more than there can be', () => {
  test.each(FORMS)('%s is refused, and the last one is not', async (_what, table, path, body) => {
    const most = MOST_ROWS[table]
    fill(w, table, most)
    const count = () => w.rows(`select count(*) as n from ${table}`)[0].n
    expect(count()).toBe(most)
    const { status, json } = await w.admin(`/admin/api/${path}`, { body })
    expect([status, json]).toEqual([400, { error: `there can be at most ${most} ${table}` }])
    expect(count()).toBe(most)
    w.change(`delete from ${table} where rowid = (select max(rowid) from ${table})`)
    expect((await w.admin(`/admin/api/${path}`, { body })).status).toBe(200)
  })

  test.each(Object.keys(MOST_ROWS) as Table[])('is restored in no table of %s', async (table) => {
    const most = MOST_ROWS[table]
    const restore = async (rows: number) => {
      const archive = await archiveOf((other) => fill(other, table, rows))
      return w.admin('/admin/api/backup/restore', upload(archive))
    }
    const refused = await restore(most + 1)
    expect([refused.status, refused.json]).toEqual([
      400,
      { error: `the database in the backup has more than ${most} rows in ${table}` },
    ])
    expect((await restore(most)).status).toBe(200)
  })
})
