/**
 * Which part of the program may import which. `npm run lint` names every import that the table does not have, every permission that
 * nothing needs, and every circle, those of types alone included. The plan behind it: docs/architecture.md.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'vite'

export interface Layer {
  name: string
  /** Paths of its files or folders; of all that fit a file the longest counts. */
  paths: string[]
  /** Layers, single files, `node:` and packages. `type X`: types of it alone. `read X`: of its values what is named as a reader. */
  may: string[]
}

const layer = (name: string, paths: string, may: string): Layer => ({
  name,
  paths: paths.split(' '),
  may: may.split(/, */).filter(Boolean),
})

/** Every room of the domain may import this. */
const DOMAIN = 'db, lib, refusals, type services, floor'

const LAYERS: Layer[] = [
  layer('lib', 'src/lib/', 'node:, valibot, @noble/hashes, @oslojs/otp, qrcode-svg'),
  layer('refusals', 'src/refusals/', 'lib'),
  layer('settings', 'src/settings/', 'lib, type ports, valibot'),
  layer('config', 'src/config.ts', 'lib, type ports, settings, node:, valibot'),
  layer('db', 'db/ db/engine/database.ts db/engine/failures.ts', 'lib, valibot, engine'),
  layer('engine', 'db/engine/', 'db, lib, sqlite, postgres, node:, type drizzle-orm'),
  // The database of an installation as a whole, of either engine.
  layer('store', 'db/engine/store.ts db/engine/open.ts', 'type db, sqlite, postgres'),
  // All that knows SQLite and its file: another engine brings its own.
  layer(
    'sqlite',
    'db/engine/sqlite/ db/upload.ts db/restore/',
    'db, engine, type store, lib, node:, better-sqlite3, type drizzle-orm',
  ),
  // All that knows PostgreSQL.
  layer(
    'postgres',
    'db/engine/postgres/',
    'db, engine, type store, lib, sqlite, node:, type pg, better-sqlite3',
  ),
  layer('ports', 'src/ports/', 'type db, type db/upload.ts, type lib, type settings, type valibot'),
  layer('services', 'src/services.ts', 'type db, type config, type lib, type ports'),

  layer(
    'floor',
    'src/domain/',
    'db, lib, refusals, type services, type config, type ports, settings',
  ),
  layer('notify', 'src/domain/notify/', `${DOMAIN}, type ports, settings`),
  layer('accounts', 'src/domain/accounts/', `${DOMAIN}, notify`),
  layer('nodes', 'src/domain/nodes/', `${DOMAIN}, type ports, notify, node:, @noble/hashes`),
  layer('customers', 'src/domain/customers/', `${DOMAIN}, type notify`),
  layer('subscriptions', 'src/domain/subscriptions/', `${DOMAIN}, notify, nodes, customers`),
  layer(
    'lists',
    'src/domain/lists/',
    'db, lib, refusals, type services, floor, settings, notify, nodes, node:, valibot, js-yaml',
  ),
  layer(
    'payments',
    'src/domain/payments/',
    `${DOMAIN}, type ports, settings, notify, accounts, customers, subscriptions, type lists`,
  ),
  layer(
    'installation',
    'src/domain/installation/',
    `${DOMAIN}, db/upload.ts, type ports, type config, settings, notify, accounts, nodes, payments, valibot`,
  ),

  layer(
    'integrations',
    'src/integrations/',
    'db/engine/failures.ts, type db/engine/database.ts, db/schema/index.ts, type db/values.ts, db/reads.ts, store, type db/upload.ts, type config, lib, refusals, type services, type ports, node:, valibot, ssh2',
  ),
  layer('web', 'src/web/', 'lib, settings, lists, node:, hono, @noble/hashes'),
  layer('page scripts', 'src/web/assets/', 'src/lib/sizes.ts, type http schemas, type web'),
  layer(
    'http schemas',
    'src/http/schemas/',
    'db, lib, settings, installation, nodes, type ports, type http, valibot',
  ),
  layer(
    'http',
    'src/http/',
    'read db, db/values.ts, lib, refusals, type services, type config, type ports, settings, floor, notify, accounts, nodes, customers, subscriptions, lists, payments, installation, web, http schemas, node:, hono, valibot, @valibot/to-json-schema',
  ),
  // As `grammy` it hangs on Node.
  layer(
    'bot',
    'src/bot/',
    'read db, db/values.ts, lib, settings, type services, floor, notify, customers, subscriptions, lists, payments, web, grammy/web, valibot',
  ),
  layer(
    'admin ui',
    'src/admin-ui/',
    'type http, type refusals, type web, preact, hono/client, uplot',
  ),

  layer(
    'jobs',
    'src/jobs.ts',
    'db, lib, type services, nodes, lists, notify, payments, subscriptions, installation',
  ),
  layer('instance', 'src/instance.ts', 'db, store, config, lib, node:'),
  layer('serve', 'src/serve.ts', 'type http, lib, node:, @hono/node-server'),
  layer('ssh worker', 'src/entry/ssh-worker.ts', 'lib, integrations, node:'),
  layer(
    'read worker',
    'src/entry/read-worker.ts',
    'db, db/engine/sqlite/open.ts, lib, type integrations, node:',
  ),
  layer(
    'data worker',
    'src/entry/data-worker.ts src/entry/data-task.ts src/entry/restore-task.ts',
    'db, store, sqlite, lib, type ports, settings, installation, integrations, node:',
  ),
  layer(
    'compose',
    'src/compose.ts',
    'db, store, type config, lib, type services, type ports, customers, installation, nodes, notify, integrations, instance, node:',
  ),
  layer(
    'start',
    'src/main.ts src/run.ts src/web-processes.ts src/entry/',
    'config, lib, type services, nodes, installation, integrations, compose, instance, jobs, http, bot, serve, node:',
  ),
  layer(
    'commands',
    'scripts/',
    'db, store, db/engine/postgres/move.ts, sqlite, config, lib, type ports, settings, accounts, installation, integrations, web, instance, compose, node:, valibot, vite',
  ),
  layer(
    'measurements',
    'scripts/bench/ scripts/docs/walks.ts scripts/pictures.ts',
    'type db, sqlite, config, type services, type ports, installation, nodes, payments, subscriptions, type lists, integrations, compose, http, start, commands, test, node:, hono, @hono/node-server, better-sqlite3, pg, ssh2',
  ),
]

/** What only some parts may say. */
export interface Reserved {
  what: string
  said: RegExp
  /** Paths of their files or folders. */
  by: string[]
}

const RESERVED: Reserved[] = [
  {
    what: 'knows codes of SQLite, whose errors are DatabaseFailures to everyone else',
    said: /\bSQLITE_[A-Z]/,
    by: ['db/engine/sqlite/', 'db/upload.ts', 'db/restore/', 'scripts/', 'test/'],
  },
  {
    what: 'writes SQL that only SQLite understands, for which db/engine/dialect.ts has or is to have words',
    said: new RegExp(
      [
        String.raw`\browid\b|\bindexed by\b|\bnot indexed\b|\bcross join\b`,
        String.raw`\bjson_each\b|\bgroup_concat\b|(?<!\.)\btotal\(\$`,
        // Of more than one value.
        String.raw`(?<![.\w])(?:min|max)\((?:[^()]|\([^()]*\))*?,`,
        // NULLs that are equal; conditions that are numbers; an alias of the same SELECT.
        String.raw`\bis (?:not )?\$\{|[+-] \(\$\{[\w.]+\} (?:<>|=)|\bhaving (?!\w+\()`,
        // Before an expression, for the planner.
        'sql`\\+',
      ].join('|'),
    ),
    by: ['db/engine/', 'db/upload.ts', 'db/restore/', 'scripts/', 'src/', 'test/'],
  },
  {
    what: 'writes to the database',
    // A statement that writes takes the query of a transaction: who opens none, and calls nothing of db that does, writes nothing.
    said: /\.tx(?:Volatile)?\(|\.q\s*\.(?:insert|update|delete)\(/,
    by: ['db/', 'src/domain/', 'src/instance.ts', 'scripts/', 'test/'],
  },
  {
    what: 'decides what a fault means, as src/lib/note-fault.ts does',
    said: /\.fatal\(/,
    by: ['src/lib/note-fault.ts', 'test/'],
  },
]

/** One import of a file: what it names, whether it is of types alone, and which names beside types it takes. */
interface Import {
  to: string
  isType: boolean
  names: string[]
}

/** What a file imports: files of the project by their path from its root, all else by its name. */
function importsOf(path: string, text: string): Import[] {
  const { module } = parseSync(path, text)
  const found: Import[] = []
  const note = (specifier: string, isType: boolean, names: string[] = ['*']) => {
    const to = specifier.startsWith('.')
      ? normalize(join(dirname(path), specifier))
      : specifier.replace(/^#/, '')
    found.push({ to, isType, names })
  }
  for (const { moduleRequest, entries } of module.staticImports) {
    const values = entries.filter(({ isType }) => !isType)
    const names = values.map(({ importName }) => importName.name ?? '*')
    note(moduleRequest.value, entries.length > 0 && values.length === 0, names)
  }
  for (const { entries } of module.staticExports) {
    for (const entry of entries) {
      if (entry.moduleRequest) note(entry.moduleRequest.value, entry.isType)
    }
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const literal = /^['"](.*)['"]$/.exec(text.slice(moduleRequest.start, moduleRequest.end))
    if (literal?.[1]) note(literal[1], false)
  }
  for (const [, specifier] of text.matchAll(/\bimport\('([^']+)'\)\.[A-Z]/g)) {
    note(specifier as string, true)
  }
  return found
}

function layerOf(path: string, layers: Layer[]): Layer | null {
  let best: { length: number; layer: Layer } | null = null
  for (const candidate of layers) {
    for (const own of candidate.paths) {
      const fits = own.endsWith('/') ? path.startsWith(own) : path === own
      if (fits && own.length > (best?.length ?? 0)) best = { length: own.length, layer: candidate }
    }
  }
  return best?.layer ?? null
}

/** The name by which the table knows what is imported. */
function targetsOf({ to }: Import, layers: Layer[]): string[] {
  if (to.startsWith('node:')) return ['node:']
  const own = layerOf(to, layers)
  if (own) return [own.name, to]
  const [scope = '', name] = to.split('/')
  return [to, scope.startsWith('@') ? `${scope}/${name}` : scope]
}

/** The circles of a graph: each a way along imports that comes back to its beginning. */
function circlesOf(graph: Map<string, string[]>): string[][] {
  const state = new Map<string, 'open' | 'done'>()
  const circles: string[][] = []
  const visit = (path: string, way: string[]) => {
    if (state.get(path) === 'done') return
    if (state.get(path) === 'open') {
      circles.push([...way.slice(way.indexOf(path)), path])
      return
    }
    state.set(path, 'open')
    for (const next of graph.get(path) ?? []) visit(next, [...way, path])
    state.set(path, 'done')
  }
  for (const path of graph.keys()) visit(path, [])
  return circles
}

/** How constants, what reads, and the cursors of lists are called. */
const READER = /^(?:[A-Z][A-Z\d_]+|(?:find|read|list|has|count|is)[A-Z]\w*|\w+Cursor)$/

/** The permission of a layer that lets it have this import; undefined where none does. */
const permissionFor = (own: Layer, one: Import, targets: string[]) =>
  own.may.find((permission) => {
    const [, kind, name = ''] = /^(type |read )?(.*)$/.exec(permission) ?? []
    if (!targets.includes(name)) return false
    if (kind === 'type ') return one.isType
    return kind === undefined || one.isType || one.names.every((imported) => READER.test(imported))
  })

const isIn = (path: string, places: string[]) =>
  places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place))

/** What is wrong with these files (path and text), a line each. */
export function checkLayers(
  files: Map<string, string>,
  layers = LAYERS,
  reserved = RESERVED,
): string[] {
  const faults: string[] = []
  const unused = new Set(
    layers.flatMap(({ name, may }) => may.map((what) => `${name} import ${what}`)),
  )
  const graph = new Map<string, string[]>()

  const check = (path: string, own: Layer, one: Import) => {
    const targets = targetsOf(one, layers)
    if (targets[0] === own.name) return
    const permission = permissionFor(own, one, targets)
    if (permission) unused.delete(`${own.name} import ${permission}`)
    else
      faults.push(`${path} imports ${one.isType ? 'types of ' : ''}${one.to}: ${own.name} may not`)
  }

  for (const [path, text] of files) {
    const imports = importsOf(path, text)
    graph.set(
      path,
      imports.map(({ to }) => to).filter((to) => files.has(to)),
    )
    const own = layerOf(path, layers)
    if (own) for (const one of imports) check(path, own, one)
    for (const { what, said, by } of reserved) {
      if (said.test(text) && !isIn(path, by)) faults.push(`${path} ${what}: it may not`)
    }
  }
  for (const what of unused) faults.push(`the table lets ${what}, which nothing there does`)
  for (const circle of circlesOf(graph)) faults.push(`circle: ${circle.join(' -> ')}`)
  return faults
}

/** The TypeScript files of this checkout that git knows or would add. */
export function projectFiles(root: string): Map<string, string> {
  const args = ['ls-files', '-co', '--exclude-standard', '--deduplicate', '*.ts', '*.tsx']
  const paths = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n')
  const files = new Map<string, string>()
  for (const path of paths.filter(Boolean)) {
    try {
      files.set(path, readFileSync(join(root, path), 'utf8'))
    } catch (error) {
      // Deleted, and not yet committed.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return files
}

if (import.meta.main) {
  const files = projectFiles(join(import.meta.dirname, '..', '..'))
  const faults = checkLayers(files)
  for (const fault of faults) console.error(fault)
  console.log(`Layers of ${files.size} files: ${faults.length} faults (scripts/lint/layers.ts)`)
  process.exit(faults.length === 0 ? 0 : 1)
}
