/** A whole service in memory: hand-set clock, fake node program, recorded calls. No process, no socket. */
import { pbkdf2Sync } from 'node:crypto'
import { join } from 'node:path'
import { insertAdmin } from '#db/admins.ts'
import type { SqliteDatabase } from '#db/engine/sqlite/handle.ts'
import { updateInstance } from '#db/instance.ts'
import { insertSession } from '#db/logins.ts'
import { read } from '#db/reads.ts'
import { createServices } from '#src/compose.ts'
import { type Config, loadConfig } from '#src/config.ts'
import {
  seedLocalNode,
  seedManagementKey,
  seedPlans,
} from '#src/domain/installation/first-start.ts'
import { createKnownHosts } from '#src/domain/nodes/known-hosts.ts'
import { createApp } from '#src/http/app.ts'
import { createDataFiles } from '#src/integrations/files/data-files.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { createReads } from '#src/integrations/read-thread.ts'
import { createBackground } from '#src/lib/background.ts'
import { hashPassword, sha256Hex } from '#src/lib/crypto.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import { createLog } from '#src/lib/log.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Core, Cores } from '#src/ports/cores.ts'
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import type { Services } from '#src/services.ts'
import type { LiveSetting } from '#src/settings/setting.ts'
import { createFakeNode, type FakeNode } from '#test/support/fakes/node.ts'
import { APIS_NOWHERE } from '#test/support/fakes/nowhere.ts'
import type { Answer } from './answer.ts'
import type { WorldDatabase } from './database-of-world.ts'
import { expectDescribed } from './described.ts'
import { residentThread } from './resident-threads.ts'
import { openWorldDatabase } from './world-database.ts'

const PAGES = join(import.meta.dirname, '../../fixtures/pages')

export const PASSWORD = 'correct horse battery'
/** Made once: 200,000 iterations for every world would be most of a test run. */
const passwordHash = hashPassword(PASSWORD)
/** The same of one iteration, for logins to be quick. No backup may bring it, so that worlds in files have the other. */
const quickHash = `pbkdf2-sha256$1$${'A'.repeat(22)}$${pbkdf2Sync(PASSWORD, Buffer.alloc(16), 1, 32, 'sha256').toString('base64url')}`

/** The session that every world has from its start. */
/** The value of the admin’s cookie. */
export const SESSION = 'session-of-the-world'

/** The environment of a world unless a test says otherwise. */
const ENVIRONMENT = {
  SUB_DOMAIN: 'sub.test',
  SITE_DOMAIN: 'site.test',
  PANEL_DOMAIN: 'panel.test',
  PANEL_PASSWORD: PASSWORD,
  LOCAL_NODE_PORT: '443',
  ENV_FILE: '/nonexistent/.env',
  ...APIS_NOWHERE,
}

/** How long a world waits for outside systems, unless a test says otherwise. */
const OUTSIDE_TIMEOUT_MS = 300

/** A clock that moves only when told. */
export function createHandClock(start: string) {
  let wallMs = Date.parse(`${start}Z`)
  let monotonic = 0
  return {
    now: () => new Date(wallMs),
    monotonicMs: () => monotonic,
    /** Time passes. */
    advance(ms: number) {
      wallMs += ms
      monotonic += ms
    },
    /** Someone sets the clock. */
    jump(ms: number) {
      wallMs += ms
    },
  }
}

export const INSTANCE_ID = '11111111-2222-3333-4444-555555555555'

const MANAGEMENT_KEY = {
  privateKey: '-----BEGIN OPENSSH PRIVATE KEY-----\nPRIVATE=\n-----END OPENSSH PRIVATE KEY-----\n',
  publicKey: 'ssh-ed25519 AAAA subpanel',
}

export interface CallOptions {
  method?: string
  /** The Host header, as it is. */
  host?: string
  headers?: Record<string, string>
  body?: unknown
  /** A body that is sent as it is. */
  raw?: string | Uint8Array | ReadableStream
  peer?: string | undefined
  cookie?: string
}

export interface World {
  s: Services & { db: SqliteDatabase }
  config: Config
  clock: ReturnType<typeof createHandClock>
  node: FakeNode
  /** The node program of a managed node; before it is asked for, such a node has none. */
  remote(code: string): FakeNode
  /** Lines of the log. */
  log: string[]
  /** Errors that would have ended the process. */
  fatal: unknown[]
  /** The text of the file `known_hosts`. */
  knownHosts(): string
  /** How many passwords were hashed for logins. */
  hashes(): number
  call(path: string, options?: CallOptions): Promise<Answer>
  /** The same with a session of `admin`. */
  admin(path: string, options?: CallOptions): Promise<Answer>
  /** The rows of a query on the database, for what no route shows. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read columns of unknown type
  rows(sql: string, ...values: unknown[]): any[]
  /** Changes the database behind the service's back. */
  change(sql: string, ...values: unknown[]): void
  /** The same once for each row of values, in one transaction. */
  changeMany(sql: string, rows: unknown[][]): void
  changeBeside: WorldDatabase['changeBeside']
  obstruct: WorldDatabase['obstruct']
  /** Waits until the service knows what `change` has done, as it knows of other processes; each call waits by itself. */
  settle(): Promise<void>
  /** What `npm run verify` would say of the database; `since`: from when on all messages and events are kept. */
  faults(since?: string): string[]
  /** All tables as text, but those named. */
  dump(...except: string[]): string
  close(): void
}

export interface WorldOptions {
  environment?: Record<string, string>
  now?: string
  path?: string
  /** Each task of data files has a thread that is started for it, as in a service. */
  ownThreads?: boolean
  cores?: boolean
  outsideTimeoutMs?: number
  /** A build of the panel; none unless told. */
  panelFolder?: string
  /** A build of the scripts of the pages. */
  pagesFolder?: string
  /** The gateways that there are, if not the usual ones. */
  descriptors?: readonly GatewayDescriptor[]
  /** The live settings that there are beside those of gateways, if not the usual ones. */
  settings?: readonly LiveSetting[]
  /** In place of those that speak over the network. */
  gateways?: Partial<Services['gateways']>
}

async function toAnswer(response: Response): Promise<Answer> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  const text = new TextDecoder().decode(bytes)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return { status: response.status, headers: response.headers, bytes, text, json }
}

/** A database in memory has no other connection. */
function readsAtOnce(db: Services['db']): Services['reads'] {
  const reads: Services['reads'] = {
    ask: (name, ...input) => read(db, name, ...input),
    for: () => reads,
    close: async () => {},
  }
  return reads
}

/** The admin with their password and a session that no clock ends and no request marks as seen. */
async function seedAdminSession(db: Services['db'], at: string): Promise<void> {
  const hash = await passwordHash
  await db.tx(function* (tx) {
    const admin = yield* insertAdmin(tx, { username: 'admin', passwordHash: hash, createdAt: at })
    yield* insertSession(tx, {
      token: sha256Hex(SESSION),
      adminId: admin.id,
      createdAt: at,
      lastSeenAt: '9999-12-31T23:59:59',
      expiresAt: '9999-12-31T23:59:59',
      ip: '127.0.0.1',
    })
  })
}

export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const clock = createHandClock(options.now ?? '2026-03-01T12:00:00')
  const config = loadConfig(
    { ...ENVIRONMENT, ...options.environment },
    '/nonexistent',
    options.descriptors ?? GATEWAYS,
    options.settings,
  )
  const at = clock.now()
  const path = options.path ?? ':memory:'
  const database = await openWorldDatabase(
    `world of ${formatTimestamp(at)}`,
    path,
    at,
    async (made) => {
      const seed = { db: made, clock: { ...clock, now: () => at }, config }
      await made.tx((tx) => updateInstance(tx, { instanceId: INSTANCE_ID }))
      await seedAdminSession(made, formatTimestamp(at))
      await seedPlans(seed)
      await seedManagementKey(seed, async () => MANAGEMENT_KEY)
    },
  )
  const { db } = database
  if (!options.path) database.change('UPDATE admins SET password_hash = ?', quickHash)
  const lines: string[] = []
  const fatal: unknown[] = []
  const noteFatal = (error: unknown) => {
    fatal.push(error)
  }
  const log = createLog('debug', clock.now, (line) => lines.push(line))
  const background = createBackground((name, error) =>
    log.error('background work failed', { work: name, reason: String(error) }),
  )
  const node = createFakeNode()
  const local: Core = { name: 'local', program: node.program, known: null }
  const remotes = new Map<string, { node: FakeNode; core: Core }>()
  const remote = (code: string): FakeNode => {
    const known = remotes.get(code)
    if (known) return known.node
    const made = createFakeNode()
    remotes.set(code, {
      node: made,
      core: { name: code, program: made.program, known: null },
    })
    return made
  }
  const cores: Cores = {
    of: (row) => (row.kind === 'local' ? local : (remotes.get(row.code)?.core ?? null)),
    forget: () => {},
    retired: (row) => remote(row.code).program,
    close: () => {},
  }
  let knownHosts = ''
  const writeKnownHosts = createKnownHosts({ db, clock, log, fatal: noteFatal }, (text) => {
    knownHosts = text
  })
  // Last, and not of the copy: every world has a node with keys of its own.
  await seedLocalNode({ db, clock, config }, async () => true)
  const limiter = createLimiter(4)
  let hashes = 0
  const hashing: Services['hashing'] = (work) => {
    hashes++
    return limiter(work)
  }
  const s = createServices(
    { config, db, clock, log, fatal: noteFatal },
    {
      ...(options.ownThreads
        ? {}
        : { dataFiles: createDataFiles({ config, log }, residentThread) }),
      reads: options.path ? createReads(options.path, log) : readsAtOnce(db),
      background,
      cores,
      writeKnownHosts,
      outsideTimeoutMs: options.outsideTimeoutMs ?? OUTSIDE_TIMEOUT_MS,
      freeDiskShare: () => 0.5,
      dial: async (address, port) => `${address}:${port}` === 'alive.test:443',
      hashing,
      strangersHashing: hashing,
      seenDelayMs: 1_000_000,
    },
  )
  Object.assign(s.gateways, options.gateways)
  const app = createApp(s, options.panelFolder ?? '/nonexistent', options.pagesFolder ?? PAGES)
  const call = async (path: string, init: CallOptions = {}): Promise<Answer> => {
    const headers = new Headers({ host: init.host ?? 'panel.test', ...init.headers })
    if (init.cookie) headers.set('cookie', init.cookie)
    const body = init.raw ?? (init.body === undefined ? undefined : JSON.stringify(init.body))
    const method = init.method ?? (body === undefined ? 'GET' : 'POST')
    const request = new Request(`http://service.test${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: body as BodyInit, duplex: 'half' }),
    })
    const peer = 'peer' in init ? init.peer : '127.0.0.1'
    await database.settle()
    const answer = await toAnswer(await app(request, { peer }))
    await database.quiet()
    expectDescribed(config, { method, path, body: init.body }, answer)
    return answer
  }
  const cookie = `panel_admin=${SESSION}`
  return {
    s: Object.assign(s, { db }),
    config,
    clock,
    node,
    remote,
    log: lines,
    fatal,
    knownHosts: () => knownHosts,
    hashes: () => hashes,
    call,
    admin: (path, init = {}) => call(path, { cookie, ...init }),
    rows: database.rows,
    change: database.change,
    changeMany: database.changeMany,
    changeBeside: database.changeBeside,
    obstruct: database.obstruct,
    settle: database.settle,
    faults: (since = '2000-01-01T00:00:00') => database.faults(since),
    dump: (...except) => database.dump(except),
    close: () => {
      void s.reads.close()
      database.close()
    },
  }
}

/** Grants a user a plan on a node and gives their card. */
export async function grantUser(world: World, tgId: number, node = 'de1', plan = '1m') {
  const granted = await world.admin(`/admin/api/users/${tgId}/grant`, { body: { node, plan } })
  const card = await world.admin(`/admin/api/users/${tgId}`)
  await world.s.background.idle()
  return { subscription: granted.json, token: card.json.token as string, card: card.json }
}
