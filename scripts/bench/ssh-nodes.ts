/** Servers of managed nodes in this process: one sshd for all, which runs a node program in memory for the user of each name. */
import { hash } from 'node:crypto'
import { createServer } from 'node:net'
import ssh2 from 'ssh2'

/** The node program of one server (docs/node-program.md): what it holds, without a core. */
export interface BenchNode {
  clients: Map<string, string>
  /** How often its status was asked. */
  statuses: number
}

export interface BenchNodes {
  /** `type base64`, as nodes pin it. */
  hostKey: string
  node(name: string): BenchNode
  close(): Promise<void>
}

type Held = BenchNode & {
  name: string
  config: string
  hysteria: string
  owner: string
  revision: string | null
}

const sha256 = (text: string) => hash('sha256', text, 'hex')
const linesOf = (clients: Iterable<[string, string]>) =>
  Array.from(clients, ([uuid, value]) => `${uuid} ${value}\n`).sort()
const ALL = Array.from({ length: 256 }, (_, block) => block.toString(16).padStart(2, '0'))

function revisionOf(node: Held): string {
  node.revision ??= sha256(linesOf(node.clients).join(''))
  return node.revision
}

function status(node: Held): object {
  node.statuses++
  return {
    ...{ program: 2, node: node.name, owner: node.owner },
    ...{ config: node.config, clients: revisionOf(node) },
    ...{ count: node.clients.size, live: true, reading: '0', counters: [] },
    core: { up: true, version: '26.7.28', uptime_s: 1, epoch: 'epoch' },
    hysteria: null,
  }
}

function list(node: Held, blocks: string[]): object {
  const lines = [...node.clients]
    .filter(([uuid]) => blocks.length === 0 || blocks.includes(uuid.slice(0, 2)))
    .map(([uuid, value]) => [uuid, ...value.split(' ')])
  return { clients: revisionOf(node), lines }
}

function tellBlocks(node: Held): object {
  const perBlock = Map.groupBy(node.clients, ([uuid]) => uuid.slice(0, 2))
  const blocks = ALL.map((name) => {
    const own = perBlock.get(name)
    return own ? sha256(linesOf(own).join('')) : ''
  })
  return { clients: revisionOf(node), count: node.clients.size, blocks }
}

function apply(node: Held, input: string): object {
  const [header, ...operations] = input
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  if (header.from !== 'any' && header.from !== revisionOf(node)) {
    return { ok: false, error: 'stale', message: '' }
  }
  for (const [sign, uuid, ...value] of operations) {
    if (sign === '+') node.clients.set(uuid, value.join(' '))
    else node.clients.delete(uuid)
  }
  node.revision = null
  node.owner = header.owner
  const told = { clients: revisionOf(node), count: node.clients.size, live: true, dropped: 0 }
  return { ...told, added: operations.length, removed: 0 }
}

function configure(node: Held, input: string): object {
  node.config = JSON.parse(input.slice(0, input.indexOf('\n'))).config
  return { config: node.config, restarted: true, live: true }
}

const VERBS: Record<string, (node: Held, input: string, words: string[]) => object> = {
  status,
  list: (node, _input, words) => list(node, words),
  blocks: tellBlocks,
  apply,
  configure,
}

function answer(node: Held, command: string, input: string): string {
  const [verb = '', ...words] = command.split(' ')
  const told = VERBS[verb]?.(node, input, words) ?? { ok: false, error: 'unknown-verb' }
  return `${JSON.stringify({ ok: true, ...told })}\n`
}

/** A port of loopback on which nobody listens. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** Starts the servers on a port of loopback; they let everybody in. */
export async function startNodes(port: number): Promise<BenchNodes> {
  const keys = ssh2.utils.generateKeyPairSync('ed25519')
  const nodes = new Map<string, Held>()
  const node = (name: string): Held => {
    const known = nodes.get(name)
    const empty = { name, statuses: 0, config: '', hysteria: '', owner: '', revision: null }
    const found = known ?? { clients: new Map(), ...empty }
    nodes.set(name, found)
    return found
  }
  const server = new ssh2.Server({ hostKeys: [keys.private] }, (client) => {
    let user = ''
    client.on('error', () => {})
    client.on('authentication', (context) => {
      user = context.username
      context.accept()
    })
    client.on('session', (accept) => {
      accept().on('exec', (run, _reject, { command }) => {
        const channel = run()
        let input = ''
        channel.on('data', (chunk: Buffer) => {
          input += chunk.toString('latin1')
        })
        channel.on('end', () => {
          channel.write(answer(node(user), command, input))
          channel.exit(0)
          channel.end()
        })
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    hostKey: keys.public.split(' ').slice(0, 2).join(' '),
    node(name) {
      const held = node(name)
      // Whoever changes the clients from outside changes the revision.
      held.revision = null
      return held
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
