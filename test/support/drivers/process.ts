/** Real processes of the service: started in a folder of their own, spoken to over HTTP, ended by pid. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { until } from '#test/support/labs/lab.ts'
import { rowsOf } from '#test/support/worlds/sync-client.ts'

export const ROOT = resolve(import.meta.dirname, '../../..')
export const PASSWORD = 'correct horse battery'
export const RUNTIMES = ['node', 'bun'] as const
export type Runtime = (typeof RUNTIMES)[number]

/** As `npm start` and the unit have it: a start costs half of the processor time that it costs where Node strips the types anew. */
export const COMPILED = { NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compile') }

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The first program of that name: its variable, PATH, node_modules/.bin. Throws when there is none: its tests must fail. */
export function findProgram(name: string, variable = `${name.toUpperCase()}_BIN`): string {
  const named = process.env[variable]
  const folders = (process.env.PATH ?? '').split(delimiter)
  const paths = [...folders, join(ROOT, 'node_modules/.bin')].map((folder) => join(folder, name))
  const found = [...(named ? [named] : []), ...paths].find(isProgram)
  if (found) return found
  throw new Error(`${name} is needed for this test: set ${variable} or put it on PATH`)
}

export function runtimeBinary(runtime: Runtime): string {
  if (runtime === 'bun') return findProgram('bun')
  return 'Bun' in globalThis ? join(ROOT, 'node_modules/.bin/node') : process.execPath
}

/** Below the ports that systems give to sockets of themselves, which other tests open by the thousand meanwhile. */
const OWN_PORTS = { first: 20_000, end: 32_768 }

/** A port on which nothing listens, and most likely nothing will but who asked for it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(OWN_PORTS.first, OWN_PORTS.end)
    const server = createServer()
    const isFree = await new Promise<boolean>((answer) => {
      server.once('error', () => answer(false))
      server.listen(port, '127.0.0.1', () => answer(true))
    })
    if (!isFree) continue
    await new Promise((done) => server.close(done))
    return port
  }
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: fields are checked where they are read
  json: any
}

export interface CallOptions {
  method?: string
  headers?: Record<string, string>
  body?: unknown
  form?: FormData
  timeoutMs?: number
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface StartOptions {
  runtime?: Runtime
  /** File under src, `main.ts` by default. */
  entry?: string
  env?: Record<string, string>
  args?: string[]
  /** A program that runs the command: strace and its arguments. */
  through?: string[]
  /** The project's folder when it is not this one. */
  root?: string
  /** Another command altogether, run in `cwd`. */
  command?: string[]
  cwd?: string
  umask?: string
  /** What it reads on stdin; nothing by default. */
  stdin?: string
}

/** A process under way. */
export interface Running {
  pid: number
  exited: Promise<Exit>
  /** stdout and stderr as they came. */
  output(): string
  stdout(): string
  signal(name: NodeJS.Signals): void
  /** SIGTERM, then its end. */
  stop(): Promise<Exit>
  /** SIGKILL, then its end. */
  kill(): Promise<Exit>
}

export interface Server extends Running {
  url: string
  call(path: string, options?: CallOptions): Promise<Answer>
  /** The same under /admin/api with a session of `admin`, opened on first use. */
  admin(path: string, body?: unknown, options?: CallOptions): Promise<Answer>
  /** The bytes of an admin route. */
  download(path: string): Promise<Buffer>
  /** Sends an archive as the panel's form does, with the area's session. */
  restore(archive: Uint8Array): Promise<Answer>
}

/** A line of output with the moment it came in, of all processes of an area in that order. */
export interface Line {
  pid: number
  at: number
  text: string
}

export interface Area {
  dir: string
  lines: Line[]
  database: string
  /** The address of its database; null where that is the file. */
  server: string | null
  envFile: string
  /** Starts a process and returns at once. */
  spawn(options?: StartOptions): Running
  /** Starts a process and waits until it listens. */
  startServer(options?: StartOptions): Promise<Server>
  /** Starts a process that ends by itself. */
  run(options?: StartOptions): Promise<Exit & { stdout: string; output: string }>
  /** Reads the database from outside. */
  query<T = Record<string, unknown>>(sql: string, ...values: unknown[]): T[]
  /** Changes the database from outside. */
  write(sql: string, ...values: unknown[]): void
  /** Ends everything that was started here and removes the folder. */
  close(): Promise<void>
}

async function call(url: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const { body, method = body === undefined ? 'GET' : 'POST' } = options
  const response = await fetch(url + path, {
    method,
    headers: { ...options.headers },
    signal: AbortSignal.timeout(options.timeoutMs ?? 30_000),
    ...(options.form ? { body: options.form } : {}),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return { status: response.status, headers: response.headers, text, json }
}

/** Signals a process and all that it has left behind; false when there is nothing of it any more. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

function splitLines(child: ChildProcess, lines: Line[]): void {
  for (const stream of [child.stdout, child.stderr]) {
    let rest = ''
    stream?.on('data', (data) => {
      const at = performance.now()
      const parts = (rest + String(data)).split('\n')
      rest = parts.pop() as string
      for (const text of parts) lines.push({ pid: child.pid as number, at, text })
    })
  }
}

function watch(child: ChildProcess): Running {
  const chunks: { out: boolean; text: string }[] = []
  child.stdout?.on('data', (data) => chunks.push({ out: true, text: String(data) }))
  child.stderr?.on('data', (data) => chunks.push({ out: false, text: String(data) }))
  const exited = new Promise<Exit>((done) =>
    child.once('close', (code, signal) => done({ code, signal })),
  )
  const pid = child.pid
  if (!pid) throw new Error('the process could not be started')
  const running: Running = {
    pid,
    exited,
    output: () => chunks.map((chunk) => chunk.text).join(''),
    stdout: () => chunks.map((chunk) => (chunk.out ? chunk.text : '')).join(''),
    signal: (name) => child.kill(name),
    stop() {
      child.kill('SIGTERM')
      return exited
    },
    kill() {
      child.kill('SIGKILL')
      return exited
    },
  }
  return running
}

/** A folder for one installation; nothing but PATH of this process's environment reaches its processes. */
export function createArea(defaults: Record<string, string> = {}, parent = tmpdir()): Area {
  const dir = mkdtempSync(join(parent, 'subpanel-process-'))
  // As in the project's folder, from which services run: Bun leaves .env to the program.
  writeFileSync(join(dir, 'bunfig.toml'), 'env = false\n')
  const started = new Map<number, Promise<Exit>>()
  const database = join(dir, 'data', 'panel.db')
  const { DATABASE_URL = '' } = defaults
  const server = DATABASE_URL.startsWith('postgres') ? DATABASE_URL : null
  let cookie: Promise<string> | null = null

  const area: Area = {
    dir,
    lines: [],
    database,
    server,
    envFile: join(dir, '.env'),
    spawn(options = {}) {
      const { runtime = 'node', entry = 'main.ts', root = ROOT, through = [] } = options
      const own = [runtimeBinary(runtime), join(root, 'src', entry), ...(options.args ?? [])]
      const words = [...through, ...(options.command ?? own)]
      const [command, ...args] = options.umask
        ? ['sh', '-c', `umask ${options.umask}; exec "$@"`, 'sh', ...words]
        : words
      const child = spawn(command as string, args, {
        cwd: options.cwd ?? dir,
        // A group of its own, so that close() reaches what a wrapper leaves behind.
        detached: true,
        stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
        env: { PATH: process.env.PATH, HOME: dir, ...COMPILED, ...defaults, ...options.env },
      })
      // Whoever ends without reading it breaks the pipe.
      child.stdin?.on('error', () => {}).end(options.stdin)
      const running = watch(child)
      splitLines(child, area.lines)
      started.set(running.pid, running.exited)
      // Its number will be another process's. While it has left something behind it is kept.
      void running.exited.then(() => {
        if (!signalGroup(running.pid, 0)) started.delete(running.pid)
      })
      return running
    },
    async startServer(options = {}) {
      const running = area.spawn({ ...options, env: { PORT: '0', ...options.env } })
      let ended = false
      void running.exited.then(() => {
        ended = true
      })
      const port = await until(
        'the server listens',
        () => ended || /listening host=\S+ port=(\d+)/.exec(running.output())?.[1],
        30_000,
      )
      if (port === true) throw new Error(`the server ended:\n${running.output()}`)
      const url = `http://127.0.0.1:${port}`
      const login = async () => {
        const answer = await call(url, '/admin/api/login', {
          body: { username: 'admin', password: PASSWORD },
          headers: { 'x-real-ip': '192.0.2.250' },
        })
        const found = /panel_admin=[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0]
        if (!found) throw new Error(`login: ${answer.status} ${answer.text}`)
        return found
      }
      return {
        ...running,
        url,
        call: (path, init) => call(url, path, init),
        async admin(path, body, init = {}) {
          cookie ??= login()
          const headers = { cookie: await cookie, ...init.headers }
          return call(url, `/admin/api${path}`, { ...init, body, headers })
        },
        async download(path) {
          cookie ??= login()
          const response = await fetch(`${url}/admin/api${path}`, {
            headers: { cookie: await cookie },
          })
          if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
          return Buffer.from(await response.arrayBuffer())
        },
        async restore(archive) {
          cookie ??= login()
          const form = new FormData()
          form.append('file', new Blob([archive as BlobPart]), 'backup.tar.gz')
          const session = await cookie
          // It ends the session, whether its answer comes or not.
          cookie = null
          const answer = await call(url, '/admin/api/backup/restore', {
            method: 'POST',
            headers: { cookie: session },
            form,
            timeoutMs: 300_000,
          })
          if (answer.status === 400) cookie ??= Promise.resolve(session)
          return answer
        },
      }
    },
    async run(options = {}) {
      const running = area.spawn(options)
      const exit = await running.exited
      return { ...exit, stdout: running.stdout(), output: running.output() }
    },
    query(sql, ...values) {
      if (server !== null) return rowsOf(server, sql, values) as never
      const db = new Sqlite(database, { readonly: true, timeout: 10_000 })
      try {
        return db.prepare(sql).all(...values) as never
      } finally {
        db.close()
      }
    },
    write(sql, ...values) {
      if (server !== null) {
        rowsOf(server, sql, values)
        return
      }
      const db = new Sqlite(database, { timeout: 10_000 })
      try {
        db.prepare(sql).run(...values)
      } finally {
        db.close()
      }
    },
    async close() {
      process.off('exit', killAll)
      killAll()
      await Promise.all(started.values())
      rmSync(dir, { recursive: true, force: true })
    },
  }
  const killAll = () => {
    for (const pid of started.keys()) signalGroup(pid, 'SIGKILL')
  }
  process.on('exit', killAll)
  return area
}

/** What a test's processes run with unless it says otherwise: a known password, no local node. */
export const PLAIN = { PANEL_PASSWORD: PASSWORD, LOCAL_NODE: 'off', LOG_LEVEL: 'debug' }

/** Whether a process is there and no zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Pids whose parent is `pid`. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number)
  } catch {
    return []
  }
}

/** A port of loopback where connections are neither accepted nor refused: its queue is full. */
export async function startBlackHole(area: Area): Promise<number> {
  const code = `
import socket, time
hole = socket.socket()
hole.bind(('127.0.0.1', 0))
hole.listen(0)
waiting = [socket.socket() for _ in range(4)]
for one in waiting:
    one.setblocking(False)
    one.connect_ex(hole.getsockname())
print(hole.getsockname()[1], flush=True)
time.sleep(600)
`
  const running = area.spawn({ command: ['python3', '-c', code] })
  return Number(await until('the black hole', () => running.stdout().trim()))
}

/** A stand-in for Xray: says a version and accepts every configuration; its API never answers. */
export function writeStubCore(dir: string): string {
  const path = join(dir, 'xray')
  const script = `#!/bin/sh
case "$1" in
  version) echo 'Xray 26.7.28 (stub)' ;;
  run) case " $* " in *' -test '*) exit 0 ;; esac; exec sleep 3600 ;;
  *) exit 1 ;;
esac
`
  writeFileSync(path, script, { mode: 0o755 })
  return path
}

/** Runs `work` for every item, at most `atATime` at once, in order. */
export async function inParallel<T, R>(
  items: T[],
  atATime: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const index = next++
      results[index] = await work(items[index] as T, index)
    }
  }
  await Promise.all(Array.from({ length: atATime }, worker))
  return results
}
