/** A node program in memory that obeys docs/node-program.md and can be told to fail. */
import { joinLines } from '#src/domain/client-sets.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { NodeError } from '#src/lib/errors.ts'
import type { ApplyRequest, ClientMap, Counters, NodeProgram } from '#src/services.ts'

export interface FakeNode {
  program: NodeProgram
  clients: ClientMap
  /** Bytes since the core's start, by client. */
  counters: Map<string, [up: number, down: number]>
  owner: string
  config: string
  /** Hysteria's configuration and counters; null: the node has none. */
  hysteria: {
    config: string
    epoch: string
    counters: Map<string, [up: number, down: number]>
  } | null
  epoch: string
  up: boolean
  /** What every verb that is called does instead of answering. */
  failure: 'unreachable' | 'timeout' | 'garbage' | null
  /** Verbs in the order of their calls; apply with its request. */
  calls: { verb: string; request?: ApplyRequest }[]
  /** Runs inside apply, before it changes anything: another process acting meanwhile. */
  beforeApply: (() => Promise<unknown>) | null
  /** The core dies and comes back: numbers from zero, a new epoch. */
  restart(): void
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
  const refuse = ({ from, owner, force, remove }: ApplyRequest) => {
    if (from !== 'any' && from !== revision()) throw new NodeError('stale', 'stale')
    const foreign = node.owner !== '' && node.owner !== owner
    if (foreign && !force && remove.length > 0) throw new NodeError('owner', 'owner')
  }
  const program: NodeProgram = {
    async status() {
      enter('status')
      return {
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
        reading: `r${++readings}`,
        counters: listCounters(node.counters),
        hysteria: node.hysteria && {
          config: sha256Hex(node.hysteria.config),
          up: true,
          epoch: node.hysteria.epoch,
          counters: listCounters(node.hysteria.counters),
        },
      }
    },
    async list() {
      enter('list')
      return { clients: revision(), lines: new Map(node.clients) }
    },
    async apply(request) {
      enter('apply', request)
      await node.beforeApply?.()
      refuse(request)
      if (node.owner === '' || request.force) node.owner = request.owner
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
    async configure(owner, base) {
      enter('configure')
      if (node.owner === '') node.owner = owner
      node.config = sha256Hex(base)
    },
    async hysteria(owner, base) {
      enter('hysteria')
      if (node.owner === '') node.owner = owner
      const epoch = `hysteria-${++restarts}`
      node.hysteria = base === '' ? null : { config: base, epoch, counters: new Map() }
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
    owner: '',
    config: '',
    hysteria: null,
    epoch: 'epoch-0',
    up: true,
    failure: null,
    calls: [],
    beforeApply: null,
    restart() {
      node.counters.clear()
      node.epoch = `epoch-${++restarts}`
    },
  }
  return node
}
