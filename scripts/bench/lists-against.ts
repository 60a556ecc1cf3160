/**
 * `node scripts/bench/lists-against.ts TREE`: what it costs to find the owner of a link and to write their list, here and in another
 * checkout of this project, by turns in one process; by the time of the processor, so that what else the machine does counts little.
 */
import { resolve } from 'node:path'
import type * as Open from '#db/engine/sqlite/open.ts'
import type * as Users from '#db/users.ts'
import type { Config } from '#src/config.ts'
import type * as Catalogue from '#src/domain/lists/catalogue.ts'
import type * as Lists from '#src/domain/lists/list.ts'
import type { Services } from '#src/services.ts'
import { CERT_PEM } from '#test/fixtures/lists/samples.ts'

const USERS = 1000
const LISTS = 4000
const ROUNDS = 40
const AT = '2026-01-01T00:00:00'
const NOW = new Date('2026-06-01T00:00:00Z')
const FORMATS = ['base64', 'mihomo', 'singbox', 'xray'] as const
type Format = (typeof FORMATS)[number]

/** What lists read of a configuration. */
const CONFIG = {
  botLinkBase: 'https://t.me',
  publicScheme: 'https',
  domains: { sub: 'sub.test', site: 'site.test', panel: 'panel.test' },
  timezone: 'UTC',
  defaultLang: 'en',
  live: {},
  readLive: () => ({}),
  settings: { all: new Map() },
} as unknown as Config

const TRANSPORTS = JSON.stringify([
  { type: 'ws', port: 8443, path: '/a1b2c3d4e5f6', cert: CERT_PEM },
  { type: 'xhttp', port: 443, path: '/f6e5d4c3b2a1' },
])

function seed(raw: ReturnType<typeof Open.openDatabase>['raw']): void {
  const node = `insert into nodes (code, label, kind, address, port, public_key, short_id, sni, transports_json, sort_order, created_at)
    values ('n1', 'Node N1', 'external', 'n1.example.com', 443, ?, '0123456789abcdef', 'dl.google.com', ?, 1, ?)`
  raw.prepare(node).run('P'.repeat(43), TRANSPORTS, AT)
  const user = raw.prepare(
    'insert into users (tg_id, telegram_id, token, created_at) values (?, ?, ?, ?)',
  )
  const subscription = raw.prepare(
    `insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at)
     values (?, ?, 'n1', '1m', '2099-01-01T00:00:00', 'admin', ?)`,
  )
  for (let i = 1; i <= USERS; i++) {
    user.run(i, i, `token-${i}`, AT)
    subscription.run(`00000000-0000-4000-8000-${String(i).padStart(12, '0')}`, i, AT)
  }
}

const NO_AGENT = { agent: '', mayBeJson: false }
/** Without a preset none is asked for. */
const NO_RULE_FILES = {} as Services['ruleFiles']

/** A writer of many lists by the code of a tree; gives their characters. */
async function writerOf(tree: string): Promise<(format: Format) => number> {
  const load = (file: string) => import(resolve(tree, file))
  const { openDatabase }: typeof Open = await load('db/engine/sqlite/open.ts')
  const { findListOwner }: typeof Users = await load('db/users.ts')
  const { createCatalogue }: typeof Catalogue = await load('src/domain/lists/catalogue.ts')
  const { createUserLists }: typeof Lists = await load('src/domain/lists/list.ts')
  const db = openDatabase(':memory:', { now: NOW })
  seed(db.raw)
  const s = { db, config: CONFIG, ruleFiles: NO_RULE_FILES }
  const catalogue = createCatalogue(s)
  const write = createUserLists(s)
  return (format) => {
    let characters = 0
    for (let i = 0; i < LISTS; i++) {
      const token = `token-${1 + (i % USERS)}`
      const owner = findListOwner(db, token, '', '2026-06-01T00:00:00')
      if (!owner || owner instanceof Promise) throw new Error('a link has no owner')
      const variant = { format, singboxVersion: null, wsAndXhttp: true, ...NO_AGENT }
      characters += write(owner, token, variant, catalogue(owner.lists), NOW).body.length
    }
    return characters
  }
}

function microsecondsOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / LISTS
}

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] as number

const [, , other] = process.argv
if (other === undefined) throw new Error('give the folder of another checkout')
const [here, there] = [await writerOf(resolve(import.meta.dirname, '../..')), await writerOf(other)]
for (const format of FORMATS) {
  if (here(format) !== there(format)) throw new Error(`lists of ${format} differ in length`)
  const mine: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    mine.push(microsecondsOf(() => here(format)))
    theirs.push(microsecondsOf(() => there(format)))
  }
  const [own, former] = [median(mine), median(theirs)]
  const share = (own / former).toFixed(3)
  console.log(`${format}: ${own.toFixed(2)} µs, there ${former.toFixed(2)} µs: ${share} times`)
}
