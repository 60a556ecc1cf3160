/** Changes of single clients on their way to a core: collected while the core is busy, bounded in time for the caller. */
import { listMembers, nodesOf, type PlacedClient } from '#db/node-groups.ts'
import { listNodes, noteBehind } from '#db/nodes.ts'
import type { Node } from '#db/schema/index.ts'
import { NodeError } from '#src/lib/errors.ts'
import { inTime } from '#src/lib/pause.ts'
import type { Core } from '#src/ports/cores.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'cores' | 'log' | 'background' | 'config'>

interface Waiting {
  uuids: Set<string>
  /** Codes of the nodes that they are, or were, on. */
  nodes: Set<string>
  /** Resolves with the outcome of the call that carries these clients. */
  done: Promise<boolean>
}

/** What is told of one core: the clients, and their nodes. */
interface ClientChange {
  core: Core
  uuids: string[]
  nodes: string[]
}

/**
 * `apply` puts a set of clients of one core right. One call per core runs at a time; what arrives meanwhile goes together in
 * the next, so a thousand grants cost a handful of calls. Nodes whose core did not take them are noted as behind: the scheduler
 * goes on with them. `missed` hears of each such core.
 */
export function createClientQueue(
  s: Deps,
  apply: (core: Core, uuids: string[]) => Promise<boolean>,
  missed: (core: Core) => void,
) {
  const running = new Map<string, Promise<unknown>>()
  const waiting = new Map<string, Waiting>()

  const carry = async (core: Core, own: Waiting): Promise<boolean> => {
    await running.get(core.name)
    waiting.delete(core.name)
    try {
      if (await apply(core, [...own.uuids])) return true
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      s.log.warn('client change waits for the next sync', {
        core: core.name,
        failure: error.failure,
      })
    }
    missed(core)
    await noteBehind(s.db, [...own.nodes])
    return false
  }

  const enqueue = ({ core, uuids, nodes }: ClientChange): Promise<boolean> => {
    let own = waiting.get(core.name)
    if (!own) {
      const entry: Waiting = { uuids: new Set(), nodes: new Set(), done: Promise.resolve(false) }
      entry.done = carry(core, entry)
      waiting.set(core.name, entry)
      running.set(
        core.name,
        entry.done.catch(() => {}),
      )
      s.background.run('client change', () => entry.done)
      own = entry
    }
    for (const uuid of uuids) own.uuids.add(uuid)
    for (const code of nodes) own.nodes.add(code)
    return own.done
  }

  /** The clients of these nodes, by the cores that this process reaches. */
  const sortByCore = (nodes: Node[], perNode: Map<string, { uuid: string }[]>): ClientChange[] => {
    const told = new Map<string, ClientChange>()
    for (const node of nodes) {
      const core = s.cores.of(node)
      if (!core) continue
      const entry = told.get(core.name) ?? { core, uuids: [], nodes: [] }
      for (const { uuid } of perNode.get(node.code) ?? []) entry.uuids.push(uuid)
      entry.nodes.push(node.code)
      told.set(core.name, entry)
    }
    return [...told.values()]
  }

  const isElsewhere = ({ kind }: Node) => kind === 'local' && s.config.localNode.elsewhere

  return {
    /** True when all clients are in place within `timeoutMs`; the call goes on after that. */
    async touch(subscriptions: PlacedClient[], timeoutMs: number): Promise<boolean> {
      const members = listMembers(s.db)
      const placed = subscriptions.flatMap((client) =>
        nodesOf(members, client).map((node) => ({ uuid: client.uuid, node })),
      )
      const perNode = Map.groupBy(placed, ({ node }) => node)
      const nodes = (await s.db.read(listNodes)).filter(({ code }) => perNode.has(code))
      const left = nodes.filter(isElsewhere).map(({ code }) => code)
      if (left.length > 0) await noteBehind(s.db, left)
      const told = sortByCore(nodes, perNode)
      const outcomes = Promise.all(told.map((one) => enqueue(one).catch(() => false)))
      return inTime(
        outcomes.then((results) => left.length === 0 && results.every(Boolean)),
        timeoutMs,
        false,
      )
    },
  }
}
