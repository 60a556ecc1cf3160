/**
 * A small internet of two network namespaces: a machine to serve from, and outside of it clients,
 * pages and targets. Real cores run there with production ports and configs, and take the addresses
 * for public ones. Needs root, iproute2 and openssl.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MACHINE_HOSTS = { 'server.test': '45.45.45.45', 'server6.test': '2001:db8::45' } as const
const OUTSIDE_HOSTS = {
  'page.test': '45.45.45.46',
  'target.test': '45.45.45.46',
  'client.test': '45.45.45.47',
  'client6.test': '2001:db8::47',
  'neighbour.test': '45.45.45.48',
} as const
/** The names that resolve in both namespaces. */
export const LAB_HOSTS = { ...MACHINE_HOSTS, ...OUTSIDE_HOSTS } as const

interface ProcessOptions {
  env?: Record<string, string>
  cwd?: string
  /** Runs where the clients and pages are, not on the machine. */
  outside?: boolean
  /** Runs on another machine of the lab, by the suffix of its namespace. */
  machine?: string
}

export interface SpawnOptions extends ProcessOptions {
  /** File for stdout and stderr, appended to; by default a new one in the lab's folder. */
  log?: string
}

export interface ExecOptions extends ProcessOptions {
  input?: string | Buffer
  /** The process is killed after this time and the result has code null. Default 60,000. */
  timeoutMs?: number
}

export interface ExecResult {
  code: number | null
  stdout: string
  stderr: string
  ms: number
}

export interface LabProcess {
  pid: number
  /** Resolves with the exit code, or null after a signal. */
  exited: Promise<number | null>
  output(): string
  signal(name: NodeJS.Signals): void
}

export interface Lab {
  name: string
  /** A folder for the files of the test, removed by close(). */
  dir: string
  /** A port outside that no other call has given away. */
  freePort(): number
  /** Starts a process and returns at once. */
  spawn(command: string, args?: string[], options?: SpawnOptions): LabProcess
  /** Runs a process to its end; any exit code resolves. */
  exec(command: string, args?: string[], options?: ExecOptions): Promise<ExecResult>
  /** Kills everything and removes namespaces and folder; also runs when the process exits. */
  close(): void
}

const PREFIX = 'lab'
const OUTSIDE = 'out'

/** Makes the namespaces with LAB_HOSTS; `hosts` (name to address) adds names for outside. */
export function createLab(hosts: Record<string, string> = {}): Lab {
  removeAbandonedLabs()
  const name = `${PREFIX}-${process.pid}-${randomBytes(3).toString('hex')}`
  const outside = `${name}-${OUTSIDE}`
  const dir = mkdtempSync(join(tmpdir(), `${name}-`))
  const started = new Set<ChildProcess>()
  let logs = 0
  let ports = 1080

  function start(command: string, args: string[], options: ProcessOptions, stdio: 'pipe' | number) {
    const suffix = options.machine ?? (options.outside ? OUTSIDE : '')
    const namespace = suffix === '' ? name : `${name}-${suffix}`
    const child = spawn('ip', ['netns', 'exec', namespace, command, ...args], {
      cwd: options.cwd ?? dir,
      env: { ...process.env, ...options.env },
      stdio: stdio === 'pipe' ? 'pipe' : ['ignore', stdio, stdio],
      // A group of its own, so that close() reaches the process's children too.
      detached: true,
    })
    started.add(child)
    child.once('close', () => started.delete(child))
    return child
  }

  const lab: Lab = {
    name,
    dir,
    freePort: () => ports++,
    spawn(command, args = [], options = {}) {
      const log = options.log ?? join(dir, `${++logs}-${command.split('/').pop()}.log`)
      const child = start(command, args, options, openSync(log, 'a'))
      const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
      const pid = child.pid
      if (!pid) throw new Error(`cannot start ${command}`)
      return {
        pid,
        exited,
        output: () => readFileSync(log, 'utf8'),
        signal: (signal) => process.kill(pid, signal),
      }
    },
    exec(command, args = [], options = {}) {
      const child = start(command, args, options, 'pipe')
      const timer = setTimeout(() => killGroup(child), options.timeoutMs ?? 60_000)
      return collect(child, options.input).finally(() => clearTimeout(timer))
    },
    close() {
      process.off('exit', lab.close)
      for (const child of started) killGroup(child)
      for (const namespace of namespacesOf(name)) removeNamespace(namespace)
      unmountBelow(dir)
      rmSync(dir, { recursive: true, force: true })
    },
  }

  process.on('exit', lab.close)
  try {
    addNamespace(name, MACHINE_HOSTS)
    addNamespace(outside, { ...OUTSIDE_HOSTS, ...hosts })
    const names = { localhost: '127.0.0.1', ...LAB_HOSTS, ...hosts }
    const lines = Object.entries(names).map(([host, address]) => `${address} ${host}\n`)
    for (const namespace of [name, outside]) {
      mkdirSync(`/etc/netns/${namespace}`, { recursive: true })
      writeFileSync(`/etc/netns/${namespace}/hosts`, lines.join(''))
    }
    ip('-n', name, 'link', 'add', 'wire', 'type', 'veth', 'peer', 'name', 'wire', 'netns', outside)
    connect(name, MACHINE_HOSTS['server.test'], MACHINE_HOSTS['server6.test'])
    connect(outside, OUTSIDE_HOSTS['client.test'], OUTSIDE_HOSTS['client6.test'])
  } catch (error) {
    lab.close()
    throw error
  }
  return lab
}

function addNamespace(name: string, hosts: Record<string, string>): void {
  ip('netns', 'add', name)
  ip('-n', name, 'link', 'set', 'lo', 'up')
  for (const address of new Set(Object.values(hosts).filter((host) => !host.includes(':')))) {
    ip('-n', name, 'address', 'add', `${address}/32`, 'dev', 'lo')
  }
}

/** Everything that is not in the namespace itself is at the other end of the wire. */
function connect(name: string, source: string, source6: string): void {
  ip('-n', name, 'link', 'set', 'wire', 'up')
  ip('-n', name, 'route', 'add', 'default', 'dev', 'wire', 'src', source)
  // Neighbours are asked only for addresses of the interface itself, unlike with IPv4.
  ip('-n', name, 'address', 'add', `${source6}/128`, 'dev', 'wire', 'nodad')
  ip('-n', name, '-6', 'route', 'add', 'default', 'dev', 'wire')
}

function collect(child: ChildProcess, input: string | Buffer | undefined): Promise<ExecResult> {
  const begin = performance.now()
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout?.on('data', (data: Buffer) => out.push(data))
  child.stderr?.on('data', (data: Buffer) => err.push(data))
  // The program may answer and exit before it has read everything.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      const stdout = Buffer.concat(out).toString()
      const stderr = Buffer.concat(err).toString()
      resolve({ code, stdout, stderr, ms: performance.now() - begin })
    })
  })
}

function ip(...args: string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid) kill(-child.pid)
}

/** Kills what runs in a namespace of ours, also daemons that left their group, and deletes it. */
function removeNamespace(name: string): void {
  if (existsSync(`/run/netns/${name}`)) {
    for (const pid of ip('netns', 'pids', name).split('\n').filter(Boolean)) kill(Number(pid))
    ip('netns', 'delete', name)
  }
  rmSync(`/etc/netns/${name}`, { recursive: true, force: true })
}

/** The namespaces of a lab: the machine's own and those named after it. */
function namespacesOf(lab: string): string[] {
  if (!existsSync('/run/netns')) return []
  return readdirSync('/run/netns').filter((name) => name === lab || name.startsWith(`${lab}-`))
}

/** Mounts of a folder's files, the innermost first. */
function unmountBelow(dir: string): void {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
  const points = mounts.map((line) => line.split(' ')[1] ?? '')
  for (const point of points.filter((path) => path.startsWith(`${dir}/`)).reverse()) {
    execFileSync('umount', ['--lazy', point])
  }
}

/** The labs of test processes that were killed before they could close theirs. */
function removeAbandonedLabs(): void {
  const abandoned = (name: string) => {
    const pid = new RegExp(`^${PREFIX}-(\\d+)-[0-9a-f]{6}(-|$)`).exec(name)?.[1]
    return pid !== undefined && !existsSync(`/proc/${pid}`)
  }
  for (const name of namespacesOf(PREFIX).filter(abandoned)) removeNamespace(name)
  for (const name of readdirSync(tmpdir()).filter(abandoned)) {
    unmountBelow(join(tmpdir(), name))
    rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}

/** Waits until `check` gives something truthy and returns it; throws with `what` after the time. */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
  timeoutMs = 10_000,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await check()
    if (value) return value
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

export interface Target {
  /** A REALITY target: TLS 1.3, self-signed P-256 certificate. */
  address: string
  serverName: string
  certificateFile: string
  keyFile: string
  /** Plain http: `/` is "hello", `/stream` sends on for ever, `/bytes/N` sends N bytes. */
  pageUrl: string
}

/** Starts target and page on the ports 443 and 80 of their address. */
export async function startTarget(lab: Lab): Promise<Target> {
  const serverName = 'target.test'
  const keyFile = join(lab.dir, 'target.key')
  const certificateFile = join(lab.dir, 'target.crt')
  const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650
    -subj /CN=${serverName} -addext subjectAltName=DNS:${serverName}`.split(/\s+/)
  execFileSync('openssl', [...request, '-keyout', keyFile, '-out', certificateFile], {
    stdio: 'ignore',
  })
  const module = JSON.stringify(import.meta.url)
  const files = JSON.stringify([keyFile, certificateFile])
  const code = `import(${module}).then((lab) => lab.serveTarget(...${files}))`
  const server = lab.spawn(process.execPath, ['-e', code], { outside: true })
  await until('the target listens', () => server.output().includes('target is listening'))
  return {
    address: `${LAB_HOSTS[serverName]}:443`,
    serverName,
    certificateFile,
    keyFile,
    pageUrl: 'http://page.test',
  }
}

/** Runs outside, in the process that startTarget starts. */
export function serveTarget(keyFile: string, certificateFile: string): void {
  const tls = { key: readFileSync(keyFile), cert: readFileSync(certificateFile) }
  const target = createHttpsServer(tls, (_, response) => response.end('target page'))
  const host = LAB_HOSTS['target.test']
  target.listen(443, host, () => {
    createHttpServer(servePage).listen(80, host, () => console.log('target is listening'))
  })
}

const servePage: RequestListener = (request, response) => {
  const size = /^\/bytes\/(\d+)$/.exec(request.url ?? '')?.[1]
  if (size) {
    response.end(Buffer.alloc(Number(size), 120))
  } else if (request.url === '/stream') {
    const timer = setInterval(() => response.write('.'.repeat(100)), 50)
    response.once('close', () => clearInterval(timer))
  } else {
    response.end('hello')
  }
}

export interface ProxiedReader {
  port: number
  /** The body of a page of startTarget's page server; what arrived of it when the connection broke. */
  read(path?: string): Promise<string>
  /** A download without end; resolves when its first bytes are there. `exited` tells of its end. */
  openStream(): Promise<LabProcess>
}

/** A reader of pages through the SOCKS port of a client that runs outside. */
export function readThrough(lab: Lab, port: number, pageUrl: string): ProxiedReader {
  const curl = ['-sSN', '-m', '20', '--socks5-hostname', `127.0.0.1:${port}`]
  return {
    port,
    async read(path = '/') {
      return (await lab.exec('curl', [...curl, pageUrl + path], { outside: true })).stdout
    },
    async openStream() {
      const stream = lab.spawn('curl', [...curl, `${pageUrl}/stream`], { outside: true })
      await until('the stream runs', () => stream.output().startsWith('.'))
      return stream
    },
  }
}

/** An Xray client outside that sends everything through `outbound`, a part of its config. */
export async function startXrayClient(
  lab: Lab,
  xray: string,
  outbound: object,
  pageUrl: string,
): Promise<ProxiedReader> {
  const port = lab.freePort()
  const inbounds = [{ listen: '127.0.0.1', port, protocol: 'socks' }]
  const file = join(lab.dir, `client-${port}.json`)
  writeFileSync(file, JSON.stringify({ inbounds, outbounds: [outbound] }))
  const client = lab.spawn(xray, ['run', '-c', file], { outside: true })
  await until('the client runs', () => client.output().includes('started'))
  return readThrough(lab, port, pageUrl)
}
