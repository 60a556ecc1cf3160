/** A whole service in memory: hand-set clock, fake node program, recorded calls. No process, no socket. */
import { openDatabase } from '#db/open.ts'
import { putInstanceId } from '#db/settings.ts'
import { type Config, loadConfig } from '#src/config.ts'
import { recordSeen } from '#src/domain/devices.ts'
import { seedAdmin, seedLocalNode, seedManagementKey, seedPlans } from '#src/domain/first-start.ts'
import { createNodeSync } from '#src/domain/sync.ts'
import { createApp } from '#src/http/app.ts'
import { createBackground } from '#src/lib/background.ts'
import { createBatch } from '#src/lib/batch.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import { createLog } from '#src/lib/log.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Core, Services } from '#src/services.ts'
import { createFakeNode, type FakeNode } from './fake-node.ts'

export const PASSWORD = 'correct horse battery'

/** The environment of a world unless a test says otherwise. */
const ENVIRONMENT = {
  SUB_DOMAIN: 'sub.test',
  SITE_DOMAIN: 'site.test',
  PANEL_DOMAIN: 'panel.test',
  PANEL_PASSWORD: PASSWORD,
  LOCAL_NODE_PORT: '443',
  ENV_FILE: '/nonexistent/.env',
}

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

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The parsed body; undefined when it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of unknown shape
  json: any
}

export interface CallOptions {
  method?: string
  host?: string
  headers?: Record<string, string>
  body?: unknown
  /** A body that is sent as it is. */
  raw?: string | Uint8Array
  peer?: string | undefined
  cookie?: string
}

export interface World {
  s: Services
  config: Config
  clock: ReturnType<typeof createHandClock>
  node: FakeNode
  /** Lines of the log. */
  log: string[]
  /** Errors that would have ended the process. */
  fatal: unknown[]
  call(path: string, options?: CallOptions): Promise<Answer>
  /** The same with the session of `admin`, logged in on first use. */
  admin(path: string, options?: CallOptions): Promise<Answer>
  close(): void
}

export interface WorldOptions {
  environment?: Record<string, string>
  now?: string
  path?: string
  cores?: boolean
}

async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return { status: response.status, headers: response.headers, text, json }
}

export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const clock = createHandClock(options.now ?? '2026-03-01T12:00:00')
  const config = loadConfig({ ...ENVIRONMENT, ...options.environment }, '/nonexistent')
  const db = openDatabase(options.path ?? ':memory:', { now: clock.now() })
  const lines: string[] = []
  const fatal: unknown[] = []
  const log = createLog('debug', clock.now, (line) => lines.push(line))
  const background = createBackground((name, error) =>
    log.error('background work failed', { work: name, reason: String(error) }),
  )
  const node = createFakeNode()
  const local: Core = { name: 'local', program: node.program, known: null }
  const cores = { of: (row: { kind: string }) => (row.kind === 'local' ? local : null) }
  const instanceId = '11111111-2222-3333-4444-555555555555'
  const seed = { db, clock, config }
  await db.tx((tx) => putInstanceId(tx, instanceId))
  await seedAdmin(seed)
  await seedPlans(seed)
  await seedManagementKey(seed, async () => ({
    privateKey: 'PRIVATE',
    publicKey: 'ssh-ed25519 AAAA subpanel',
  }))
  await seedLocalNode(seed, async () => true)
  const s: Services = {
    config,
    db,
    clock,
    log,
    background,
    cores,
    instanceId,
    dial: async (address, port) => `${address}:${port}` === 'alive.test:443',
    hashing: createLimiter(4),
    seenDevices: createBatch(1_000_000, (ids: number[]) =>
      background.run('devices seen', () => recordSeen(db, ids, formatTimestamp(clock.now()))),
    ),
    fatal: (error) => {
      fatal.push(error)
    },
    nodeSync: createNodeSync({ db, clock, log, config, cores, instanceId, background }),
  }
  const app = createApp(s)
  const call = async (path: string, init: CallOptions = {}): Promise<Answer> => {
    const host = init.host ?? 'panel.test'
    const headers = new Headers({ host, ...init.headers })
    if (init.cookie) headers.set('cookie', init.cookie)
    const body = init.raw ?? (init.body === undefined ? undefined : JSON.stringify(init.body))
    const method = init.method ?? (body === undefined ? 'GET' : 'POST')
    const request = new Request(`http://${host}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: body as BodyInit }),
    })
    const peer = 'peer' in init ? init.peer : '127.0.0.1'
    return toAnswer(await app(request, { peer }))
  }
  let cookie = ''
  return {
    s,
    config,
    clock,
    node,
    log: lines,
    fatal,
    call,
    async admin(path, init = {}) {
      if (cookie === '') {
        const answer = await call('/admin/api/login', {
          body: { username: 'admin', password: PASSWORD },
        })
        cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] as string
      }
      return call(path, { cookie, ...init })
    },
    close: () => db.close(),
  }
}

/** Grants a user a plan on a node and gives his card. */
export async function grantUser(world: World, tgId: number, node = 'de1', plan = '1m') {
  const granted = await world.admin(`/admin/api/users/${tgId}/grant`, { body: { node, plan } })
  const card = await world.admin(`/admin/api/users/${tgId}`)
  await world.s.background.idle()
  return { subscription: granted.json, token: card.json.token as string, card: card.json }
}
