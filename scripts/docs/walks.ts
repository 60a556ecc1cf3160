/**
 * Takes the three walks of docs/architecture.md in this process, with a real database and a node program in memory, has V8 count which
 * functions ran (Profiler.takePreciseCoverage), and writes the table there between its markers; with --json it prints what it found
 * instead, and whether the table says so. On Node only.
 */
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { driverOf } from '#db/engine/sqlite/handle.ts'
import { compose, createServices } from '#src/compose.ts'
import { type Config, loadConfig } from '#src/config.ts'
import { createApp } from '#src/http/app.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import type { Core } from '#src/ports/cores.ts'
import type { Services } from '#src/services.ts'
import { createFakeNode } from '#test/support/fakes/node.ts'
import { withPart } from './marked-part.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const FILE = join(ROOT, 'docs', 'architecture.md')
const SECRET = 'secret of the gateway'
const PASS = { force: false, remove: true }

/** What a walk is not counted by: it is what any program would use, or the database's own. */
const PLUMBING = /^(src\/lib|db\/engine)\//

/** Puts the parts together at the start: what it imports it does not call on a walk. */
const COMPOSED = 'src/compose.ts'

/** Where operations are declared with what it exports, and called by the router. */
const OPERATIONS = 'src/http/operation.ts'

/** Who is called through Services or the router, which hide it from imports. */
const SERVED: [use: RegExp, file: string][] = [
  [/\bapp\.fetch\(/, OPERATIONS],
  [/\bone\.handle\(/, 'src/http/webhooks.ts'],
  [/\bs\.gateways\b/, 'src/integrations/payments/provider-b/index.ts'],
  [/\bs\.lists\./, 'src/domain/lists/list.ts'],
  [/\bs\.catalogue\(/, 'src/domain/lists/catalogue.ts'],
  [/\bs\.nodeSync\./, 'src/domain/nodes/sync/sync.ts'],
]

interface Walk {
  name: string
  /** Ours that ran, without what they are not counted by. */
  files: string[]
  /** The longest chain of them in which each calls the next. */
  chain: string[]
}

const specifiers = (text: string): string[] =>
  Array.from(text.matchAll(/^(?:import|export) (?!type\b)[^;']*? from '([^']+)'/gm), ([, path]) =>
    String(path),
  )

/** The files of these that a file calls. */
function calledBy(file: string, files: readonly string[]): string[] {
  if (file === COMPOSED) return []
  const text = readFileSync(join(ROOT, file), 'utf8')
  const imported = specifiers(text)
    .map((path) => (path.startsWith('#') ? path.slice(1) : join(file, '..', path)))
    .filter((path) => path !== OPERATIONS)
  const served = SERVED.flatMap(([use, target]) => (use.test(text) ? [target] : []))
  return files.filter((other) => other !== file && [...imported, ...served].includes(other))
}

function longestChain(files: readonly string[]): string[] {
  const calls = new Map(files.map((file) => [file, calledBy(file, files)]))
  const from = (file: string, before: readonly string[]): string[] => {
    const way = [...before, file]
    return (calls.get(file) ?? [])
      .filter((next) => !way.includes(next))
      .map((next) => from(next, way))
      .reduce((best, found) => (found.length > best.length ? found : best), way)
  }
  return files
    .map((file) => from(file, []))
    .reduce((best, found) => (found.length > best.length ? found : best), [])
}

/** A shop whose node has a core in memory, with two customers who wait for their payments to be confirmed. */
async function openShop(config: Config): Promise<Services> {
  const { db, clock, log, fatal } = (await compose(config, { init: true })).services
  const node = createFakeNode()
  const core: Core = { name: 'local', program: node.program, known: null }
  const cores: Services['cores'] = {
    of: () => core,
    forget() {},
    retired: () => node.program,
    close() {},
  }
  const at = clock.now().toISOString().slice(0, 19)
  const raw = driverOf(db)
  for (const i of [1, 2]) {
    raw
      .prepare('INSERT INTO users (tg_id, telegram_id, token, created_at) VALUES (?, ?, ?, ?)')
      .run(i, i, tokenOf(i), at)
    raw
      .prepare(
        `INSERT INTO payments (id, tg_id, node, plan, provider, external_id, amount, currency, days, shop_id, created_at, source)
         VALUES (?, ?, 'de1', '1m', 'provider_b', ?, 199, 'RUB', 30, 'merchant', ?, 'bot')`,
      )
      .run(`00000000-0000-4000-8000-00000000000${i}`, i, `order-${i}`, at)
  }
  // Nobody is woken: what senders do with what the walk left them is a walk of its own.
  return createServices({ config, db, clock, log, fatal }, { cores, nudge() {} })
}

const tokenOf = (i: number) => String(i).padStart(43, 'A')

/** Requests as client apps and gateways send them. */
function visitorOf(s: Services) {
  const app = createApp(s)
  const ask = async (path: string, headers: Record<string, string>, body?: string) => {
    const init = body === undefined ? {} : { method: 'POST', body }
    const request = new Request(`http://shop.test${path}`, {
      ...init,
      headers: { host: 'shop.test', ...headers },
    })
    const answer = await app(request, { peer: '127.0.0.1' })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    await answer.text()
  }
  return {
    list: (i: number) => ask(`/sub/${tokenOf(i)}`, { 'user-agent': 'v2rayNG/1.9' }),
    notice(i: number) {
      const body = `{"id":"order-${i}","status":"paid","amount":"199.00","currency":"RUB"}`
      const signature = createHmac('sha256', SECRET).update(body).digest('hex')
      return ask('/payments/webhook/provider_b', { 'x-signature': signature }, body)
    },
  }
}

/** Our files of which functions ran while `work` did. */
async function filesOf(session: Session, work: () => Promise<unknown>): Promise<string[]> {
  await session.post('Profiler.takePreciseCoverage')
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return result
    .filter(({ url }) => url.startsWith('file:'))
    .filter(({ functions }) =>
      // The one that begins at 0 is the module itself.
      functions.some(({ ranges: [all] }) => all && all.startOffset > 0 && all.count > 0),
    )
    .map(({ url }) => relative(ROOT, fileURLToPath(url)))
    .filter((file) => /^(src|db)\//.test(file) && !PLUMBING.test(file))
    .sort()
}

async function takeWalks(folder: string): Promise<Walk[]> {
  const environment = {
    DATA_DIR: folder,
    ENV_FILE: join(folder, '.env'),
    SUB_DOMAIN: 'shop.test',
    LOCAL_NODE_PORT: '20443',
    LOG_LEVEL: 'error',
    PAYMENTS_ENABLED: 'true',
    PROVIDER_B_ENABLED: 'true',
    PROVIDER_B_PRESET: 'generic',
    PROVIDER_B_API_URL: 'https://gateway.test',
    PROVIDER_B_MERCHANT_ID: 'merchant',
    PROVIDER_B_SECRET: SECRET,
  }
  const s = await openShop(loadConfig(environment, folder, GATEWAYS))
  const { list, notice } = visitorOf(s)
  const pass = () => s.nodeSync.syncAll(PASS)
  // What the first of each reads into memory is there already.
  await notice(1)
  await pass()
  await list(1)
  await s.background.idle()
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true })
  const walks: Walk[] = []
  for (const [name, work] of [
    ['`GET /sub/{token}`', () => list(1)],
    ['a payment’s notice', () => notice(2)],
    ['a pass over a node', pass],
  ] as const) {
    const files = await filesOf(session, async () => {
      await work()
      // A sync that it set going is a part of it, however long it takes.
      await s.background.idle()
    })
    walks.push({ name, files, chain: longestChain(files) })
  }
  session.disconnect()
  await s.reads.close()
  s.db.close()
  return walks
}

const baseOf = (file: string) => `\`${file.replace(/^src\//, '')}\``

const tableOf = (walks: readonly Walk[]) =>
  [
    '| walk | files | longest way | which is |',
    '| --- | --- | --- | --- |',
    ...walks.map(
      ({ name, files, chain }) =>
        `| ${name} | ${files.length} | ${chain.length} | ${chain.map(baseOf).join(' → ')} |`,
    ),
  ].join('\n')

const folder = mkdtempSync(join(tmpdir(), 'subpanel-walks-'))
try {
  const walks = await takeWalks(folder)
  const present = readFileSync(FILE, 'utf8')
  const wanted = withPart('docs/architecture.md', present, 'walks', tableOf(walks))
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify({ walks, written: present === wanted }))
  } else {
    if (present !== wanted) writeFileSync(FILE, wanted)
    console.log(`docs/architecture.md: ${present === wanted ? 'as it should be' : 'written anew'}`)
  }
} finally {
  rmSync(folder, { recursive: true })
}
