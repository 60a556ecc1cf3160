/** Machines of a lab beside its own: each a network namespace with an address, all routed by the outside. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findCore } from '#test/support/cores.ts'
import { LAB_HOSTS, type Lab } from './lab.ts'

export interface Machine {
  /** The suffix of its namespace, for `lab.exec` and `lab.spawn`. */
  machine: string
  address: string
}

/** What can be seen of a managed server and done to it, however it was set up. */
export interface ManagedServer extends Machine {
  /** The node's. */
  code: string
  /** The node program's state folder. */
  dir: string
  /** Pulls the cable out and puts it back: nothing is refused, all is lost. */
  setLink(up: boolean): void
  /** SIGKILL to a core. */
  killCore(name?: 'xray' | 'hysteria'): void
  /** The uuids that the file of clients holds, sorted. */
  listed(): string[]
  /** The short id of the configuration that Xray was started with last, or will be. */
  shortId(): string | undefined
  /** The uuids that the running Xray holds by a transport, REALITY unless told otherwise, sorted; null when it does not answer. */
  held(transport?: 'reality' | 'xhttp' | 'grpc' | 'ws'): Promise<string[] | null>
}

/** The addresses of all servers, and of the outside that routes between them. */
const NETWORK = '45.45.46.0/24'
const ROUTER = LAB_HOSTS['client.test']
/** The account of the panel on a server. */
export const NODE_USER = 'subpanel'

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}

/** Lets the outside of a lab carry packets between the machines that hang on it. */
function makeRouter(lab: Lab): void {
  const command = 'echo 1 >/proc/sys/net/ipv4/ip_forward'
  execFileSync('ip', ['netns', 'exec', `${lab.name}-out`, 'sh', '-c', command])
  ip('-n', lab.name, 'route', 'add', NETWORK, 'via', ROUTER, 'dev', 'wire', 'onlink')
}

/** `ip netns exec` shows a program the files of this folder in place of those of /etc. */
function addLine(namespace: string, name: string, line: string): void {
  const text = `${readFileSync(`/etc/${name}`, 'utf8').trimEnd()}\n${line}\n`
  writeFileSync(`/etc/netns/${namespace}/${name}`, text, { mode: 0o600 })
}

function makeNamespace(lab: Lab, machine: string, address: string): void {
  const namespace = `${lab.name}-${machine}`
  const outside = `${lab.name}-out`
  ip('netns', 'add', namespace)
  mkdirSync(`/etc/netns/${namespace}`, { recursive: true })
  const hosts = readFileSync(`/etc/netns/${lab.name}/hosts`)
  writeFileSync(`/etc/netns/${namespace}/hosts`, hosts)
  // The management account, which needs no sudo here. Its shell reads no files, as root's might.
  addLine(namespace, 'passwd', `${NODE_USER}:x:0:0::/nonexistent:/bin/sh`)
  addLine(namespace, 'shadow', `${NODE_USER}:*:20000:0:99999:7:::`)
  ip('-n', namespace, 'link', 'set', 'lo', 'up')
  ip('-n', namespace, 'address', 'add', `${address}/32`, 'dev', 'lo')
  const wire = ['link', 'add', 'wire', 'type', 'veth', 'peer', 'name', machine, 'netns', outside]
  ip('-n', namespace, ...wire)
  ip('-n', outside, 'link', 'set', machine, 'up')
  ip('-n', outside, 'route', 'add', `${address}/32`, 'dev', machine)
}

function setLink(lab: Lab, machine: string, address: string, up: boolean): void {
  const namespace = `${lab.name}-${machine}`
  ip('-n', namespace, 'link', 'set', 'wire', up ? 'up' : 'down')
  // A route goes with its link.
  const route = ['default', 'via', ROUTER, 'dev', 'wire', 'onlink', 'src', address]
  if (up) ip('-n', namespace, 'route', 'replace', ...route)
}

/** Processes of a namespace by the name of their program. */
export function pidsOf(lab: Lab, machine: string, program?: RegExp): number[] {
  const args = ['netns', 'pids', `${lab.name}-${machine}`]
  const pids = execFileSync('ip', args, { encoding: 'utf8' }).split('\n').filter(Boolean)
  const nameOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
    } catch {
      return ''
    }
  }
  return pids.filter((pid) => !program || program.test(nameOf(pid))).map(Number)
}

/** Signals what is still there. */
export function signalAll(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It ended meanwhile.
    }
  }
}

const routers = new WeakSet<Lab>()

/** Adds an empty machine, number `index` (from 1), that the panel's one can reach. */
export function addMachine(lab: Lab, index: number): { machine: string; address: string } {
  if (!routers.has(lab)) makeRouter(lab)
  routers.add(lab)
  const machine = `n${index}`
  const address = `45.45.46.${index}`
  makeNamespace(lab, machine, address)
  setLink(lab, machine, address, true)
  return { machine, address }
}

/** The server of a node of this code, whose Xray listens on `socket`. */
export function watchServer(
  lab: Lab,
  { machine, address }: Machine,
  code: string,
  { dir, socket }: { dir: string; socket: string },
): ManagedServer {
  return {
    machine,
    address,
    code,
    dir,
    setLink: (up) => setLink(lab, machine, address, up),
    killCore: (name = 'xray') => signalAll(pidsOf(lab, machine, new RegExp(`^${name}`)), 'SIGKILL'),
    listed() {
      const file = join(dir, 'clients')
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
      return lines.filter(Boolean).map((line) => line.slice(0, 36))
    },
    shortId() {
      const file = join(dir, 'config.json')
      const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
      return /"shortIds": *\["([0-9a-f]*)"\]/.exec(text)?.[1]
    },
    async held(transport = 'reality') {
      const args = [
        'api',
        'inbounduser',
        '-t',
        '5',
        '-s',
        `unix://${socket}`,
        `-tag=${code}.${transport}`,
      ]
      const { code: exit, stdout } = await lab.exec(findCore('xray'), args, { machine })
      if (exit !== 0) return null
      return Array.from(
        stdout.matchAll(/"email": *"([^"]+)"/g),
        ([, uuid]) => uuid as string,
      ).sort()
    },
  }
}
