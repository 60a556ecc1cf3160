/** A node program in memory that obeys docs/node-program.md and can be told to fail. */
import { joinLines } from '#src/domain/nodes/sync/sets.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { NodeError } from '#src/lib/errors.ts'
import type {
  ApplyRequest,
  ClientMap,
  Counters,
  MachineState,
  NodeProgram,
} from '#src/ports/node-program.ts'

export interface FakeNode {
  program: NodeProgram
  clients: ClientMap
  /** Bytes since the core's start, by client. */
  counters: Map<string, [up: number, down: number]>
  /** 1 is the one without blocks, whose clients have their passwords as they are. */
  version: number
  owner: string
  config: string
  /** What `configure` was given last. */
  given: string
  /** Hysteria's configuration and counters; null: the node has none. */
  hysteria: {
    config: string
    epoch: string
    counters: Map<string, [up: number, down: number]>
  } | null
  /** Whether it can redirect a range of ports. */
  redirects: boolean
  epoch: string
  /** What it says of the connected and of its machine; null: nothing, as former programs. */
  online: number | null
  host: MachineState | null
  up: boolean
  /** What every verb that is called does instead of answering. */
  failure: 'unreachable' | 'timeout' | 'garbage' | null
  /** Verbs in the order of their calls; apply with its request. */
  calls: { verb: string; request?: ApplyRequest }[]
  /** Runs inside apply, before it changes anything: another process acting meanwhile. */
  beforeApply: (() => Promise<unknown>) | null
  /** The core dies and comes back: numbers from zero, a new epoch. */
  restart(): void
  /** Program 2 takes the place of program 1: the clients stay, the configurations are no more what was given. */
  upgrade(): void
}

const listCounters = (counters: Map<string, [up: number, down: number]>): Counters =>
  Array.from(counters, ([uuid, [up, down]]) => [uuid, up, down])

export function createFakeNode(): FakeNode {
  let restarts = 0
  let readings = 0
  const revision = () => sha256Hex(joinLines(node.clients))
  const enter = (verb: string, request?: ApplyRequest) => {
    node.calls.push(request ? { verb, request } : { verb })
    if (node.failure) throw new NodeError(node.failure, `fake ${node.failure}`)
  }
  const refuse = ({ from, owner, force, add, remove }: ApplyRequest) => {
    const isForm = (word: string) => word.includes('=') === node.version > 1
    const fits = add.every(([, value]) => value.split(' ').slice(1).every(isForm))
    if (!fits) throw new NodeError('bad-input', 'operation 1 is malformed')
    if (from !== 'any' && from !== 'none' && from !== revision())
      throw new NodeError('stale', 'stale')
    const foreign = node.owner !== '' && node.owner !== owner
    if (foreign && !force && remove.length > 0) throw new NodeError('owner', 'owner')
  }
  const needsBlocks = (asked: boolean) => {
    if (asked && node.version < 2) throw new NodeError('unknown-verb', 'no blocks')
  }
  const redirects = (parameters: string) => node.redirects && parameters.includes('\nhop ')
  const program: NodeProgram = {
    async status() {
      enter('status')
      return {
        program: node.version,
        owner: node.owner,
        config: node.config,
        clients: revision(),
        count: node.clients.size,
        live: node.up,
        core: {
          up: node.up,
          version: node.up ? '26.7.28' : null,
          uptimeS: node.up ? 100 : null,
          epoch: node.up ? node.epoch : null,
        },
        online: node.online,
        host: node.host,
        reading: `r${++readings}`,
        counters: listCounters(node.counters),
        hysteria: node.hysteria && {
          config: sha256Hex(node.hysteria.config),
          up: true,
          epoch: node.hysteria.epoch,
          hop: redirects(node.hysteria.config),
          counters: listCounters(node.hysteria.counters),
        },
      }
    },
    async list(blocks = []) {
      enter('list')
      needsBlocks(blocks.length > 0)
      const isAsked = ([uuid]: [string, string]) =>
        blocks.length === 0 || blocks.includes(uuid.slice(0, 2))
      return { clients: revision(), lines: [...node.clients].filter(isAsked) }
    },
    async blocks() {
      enter('blocks')
      needsBlocks(true)
      const { clients } = node
      const perBlock = Map.groupBy(clients, ([uuid]) => uuid.slice(0, 2))
      const blocks = Array.from({ length: 256 }, (_, i) => {
        const own = perBlock.get(i.toString(16).padStart(2, '0'))
        return own ? sha256Hex(joinLines(new Map(own))) : ''
      })
      return { clients: revision(), count: clients.size, blocks }
    },
    async apply(request) {
      enter('apply', request)
      await node.beforeApply?.()
      refuse(request)
      if (node.owner === '' || request.force) node.owner = request.owner
      if (request.from === 'none') node.clients.clear()
      for (const uuid of request.remove) node.clients.delete(uuid)
      for (const [uuid, group] of request.add) node.clients.set(uuid, group)
      if (request.to !== '' && request.to !== revision()) throw new NodeError('bad-input', 'to')
      return {
        clients: revision(),
        added: request.add.length,
        removed: request.remove.length,
        live: node.up,
        dropped: 0,
      }
    },
    async configure({ owner }, base) {
      enter('configure')
      if (node.owner === '') node.owner = owner
      node.config = sha256Hex(base)
      node.given = base
    },
    async hysteria({ owner }, base) {
      enter('hysteria')
      if (node.owner === '') node.owner = owner
      const epoch = `hysteria-${++restarts}`
      node.hysteria = base === '' ? null : { config: base, epoch, counters: new Map() }
      return redirects(base)
    },
    async retire() {
      enter('retire')
      node.clients.clear()
      node.hysteria = null
      Object.assign(node, { owner: '', config: '', up: false })
    },
    async metrics() {
      enter('metrics')
      return {
        memTotalMb: 4000,
        memUsedMb: 1000,
        uptimeS: 90_061,
        load1: 0.5,
        cpuCount: 2,
        coreVersion: node.up ? '26.7.28' : null,
        coreUp: node.up,
        hysteriaUp: node.hysteria && true,
        clients: node.clients.size,
      }
    },
  }
  const node: FakeNode = {
    program,
    clients: new Map(),
    counters: new Map(),
    version: 2,
    owner: '',
    config: '',
    given: '',
    hysteria: null,
    redirects: true,
    online: null,
    host: null,
    epoch: 'epoch-0',
    up: true,
    failure: null,
    calls: [],
    beforeApply: null,
    upgrade() {
      node.version = 2
      node.config = ''
      if (node.hysteria) node.hysteria.config = 'of program 1'
      for (const [uuid, value] of node.clients) {
        node.clients.set(uuid, value.replace(' ', ' auth='))
      }
    },
    restart() {
      node.counters.clear()
      node.epoch = `epoch-${++restarts}`
    },
  }
  return node
}
