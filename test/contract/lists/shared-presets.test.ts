/** Lists that are written once for all on the same nodes, with presets: each is asked for behind another's, in one process. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addGroup } from '#test/support/rows/groups.ts'
import { addSubscription, addUser } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const GROUPS: [code: string, preset: string | null, ads: number | null, files: string[]][] = [
  ['none', null, null, []],
  ['ru', 'ru', 0, ['geosite-category-ru', 'geoip-ru']],
  ['cn', 'cn', 0, ['geosite-cn', 'geoip-cn']],
  ['ads', 'cn', 1, ['geosite-category-ads-all', 'geosite-cn', 'geoip-cn']],
]

let folder: string
let rules: string
let w: World
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-shared-'))
  rules = join(folder, 'rules')
  mkdirSync(rules)
  const names = new Set(GROUPS.flatMap(([, , , files]) => files))
  for (const name of names) writeFileSync(join(rules, `${name}.srs`), 'SRS\x01rules')
  w = await createWorld({ environment: { CORES_DIR: folder } })
})
afterEach(() => {
  w.close()
  rmSync(folder, { recursive: true })
})

/** Somebody on the one node, with a group that has this of its own. */
function customerOf(tgId: number, code: string, preset: string | null, ads: number | null): string {
  addGroup(w, code, 'de1')
  const sql = 'update node_groups set routing_preset = ?, routing_ads = ? where code = ?'
  w.change(sql, preset, ads, code)
  const token = addUser(w, tgId)
  addSubscription(w, tgId, { node_group: code })
  return token
}

async function listAs(token: string, agent: string): Promise<string> {
  const answer = await w.call(`/sub/${token}`, {
    host: 'sub.test',
    headers: { 'user-agent': agent },
  })
  expect(answer.status).toBe(200)
  return answer.text
}

/** The rule files that the list of somebody names. */
async function filesOf(token: string): Promise<string[]> {
  const list = await listAs(token, 'SFA/1.13.2 (600; sing-box 1.13.2)')
  return [...list.matchAll(/\/rules\/([\w-]+)\.srs/g)].map(([, name]) => name as string)
}

test('groups on the same nodes have each its own preset', async () => {
  const customers = GROUPS.map(([code, preset, ads, files], i) => ({
    token: customerOf(i + 1, code, preset, ads),
    files,
  }))
  for (const all of [customers, customers.toReversed(), customers]) {
    for (const { token, files } of all) expect((await filesOf(token)).sort()).toEqual(files.sort())
  }
  const lists = await Promise.all(customers.map(({ token }) => listAs(token, 'clash-verge/v2.4.2')))
  expect(lists.map((list) => /"GEOIP,(\w+),/.exec(list)?.[1])).toEqual([
    undefined,
    'ru',
    'cn',
    'cn',
  ])
  expect(lists.map((list) => list.includes('ads'))).toEqual([false, false, false, true])
})

test('a preset goes and comes with its rule files, while nothing else of lists changes', async () => {
  const token = customerOf(1, 'ru', 'ru', 0)
  const files = ['geosite-category-ru', 'geoip-ru']
  expect(await filesOf(token)).toEqual(files)
  const revision = w.s.db.revision()
  const away = join(folder, 'away')
  for (const [from, to, found] of [
    [rules, away, []],
    [away, rules, files],
    [rules, away, []],
  ] as const) {
    renameSync(from, to)
    // What was found of a file counts for ten seconds.
    w.clock.advance(11_000)
    expect(await filesOf(token)).toEqual(found)
  }
  expect(w.s.db.revision()).toBe(revision)
})
