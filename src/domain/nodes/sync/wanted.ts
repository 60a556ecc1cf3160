/** The clients that a core must serve, read from the database piece by piece: nobody holds all of them. */
import { type ClientIds, joinClientsOfNode, listClientsOfNode } from '#db/subscriptions.ts'
import type { SoundNode } from '#src/domain/nodes/sound.ts'
import { createSha256 } from '#src/lib/crypto.ts'
import { nextTurn } from '#src/lib/event-loop.ts'
import type { Core } from '#src/ports/cores.ts'
import type { Services } from '#src/services.ts'
import { ALL_BLOCKS, blockName, type ClientLine, linesOf } from './sets.ts'
import { valuesOf } from './values.ts'

type Deps = Pick<Services, 'db'>

/** Clients of whole blocks, sorted as the node program sorts them. */
export interface Piece {
  blocks: readonly number[]
  clients: ClientLine[]
}

export interface WantedClients {
  /** The clients of these blocks (their numbers, rising), or of all. What is read of a block is of one moment. */
  pieces(blocks?: readonly number[]): AsyncGenerator<Piece>
  /** The revision of all of them, the one that the node program would tell, and how many they are. */
  summary(core: Core): Promise<{ revision: string; count: number }>
}

/** About as many clients are read and hashed at once: 1 to 8 ms. */
const PIECE = 1000

/** A client of no subscription: whatever goes into the values of a node shows in this one's. */
const NOBODY = '00000000-0000-0000-0000-000000000000'

/** How many of the blocks from `start` on follow each other, at most `span`. */
function runLength(blocks: readonly number[], start: number, span: number): number {
  const first = blocks[start] as number
  let length = 1
  while (length < span && blocks[start + length] === first + length) length++
  return length
}

/**
 * Goes through these blocks, some at a time: `read` gives what is wanted of a range of client ids, and how many they are. All else
 * has its turn in between.
 */
async function* walk<T>(
  blocks: readonly number[],
  read: (ids: ClientIds) => Promise<{ read: T; count: number }>,
) {
  let span = 1
  let unrested = 0
  for (let start = 0; start < blocks.length; ) {
    const own = blocks.slice(start, start + runLength(blocks, start, span))
    start += own.length
    const [first = 0, last = first] = [own[0], own.at(-1)]
    const { read: found, count } = await read({
      from: blockName(first),
      to: blockName(last + 1),
    })
    if (count < PIECE / 2) span *= 2
    else if (count > PIECE) span = Math.max(1, span / 2)
    yield { blocks: own, found }
    unrested += count
    if (unrested < PIECE) continue
    unrested = 0
    await nextTurn()
  }
}

/** What the database says of the clients of a core that serves these nodes, as this node program has them, at the time `now`. */
export function wantedClients(
  s: Deps,
  nodes: SoundNode[],
  program: number,
  now: string,
): WantedClients {
  const values = nodes.map((node) => valuesOf(node, program))

  /** The ids of each node. */
  const list = async (ids: ClientIds) => {
    const lists = await s.db.scan(function* (q) {
      const found: string[][] = []
      for (const { code } of nodes) found.push(yield* listClientsOfNode(q, code, ids, now))
      return found
    })
    return { read: lists, count: lists.reduce((sum, { length }) => sum + length, 0) }
  }
  /** The ids of each node as bytes. */
  const join = async (ids: ClientIds) => {
    const texts = await s.db.scan(function* (q) {
      const found: Uint8Array[] = []
      for (const { code } of nodes) found.push(yield* joinClientsOfNode(q, code, ids, now))
      return found
    })
    const size = texts.reduce((sum, { length }) => sum + length, 0)
    return { read: texts, count: size / NOBODY.length }
  }
  const clientsOf = (lists: string[][]): ClientLine[] => {
    const clients = values.flatMap((valueFor, node) =>
      (lists[node] ?? []).map((uuid): ClientLine => [uuid, valueFor(uuid)]),
    )
    return nodes.length > 1 ? clients.sort(([a], [b]) => (a < b ? -1 : 1)) : clients
  }

  /** Starts the hash of all that the wanted lines are made of: it is the same where they are. */
  const startMade = () => {
    const made = createSha256()
    made.add(JSON.stringify(values.map((valueFor) => valueFor(NOBODY))))
    const add = (ids: string | Uint8Array) => {
      made.add(ids)
      made.add('\n')
    }
    return { add, hex: made.hex }
  }
  const hashMade = async () => {
    const made = startMade()
    for await (const { found } of walk(ALL_BLOCKS, join)) for (const text of found) made.add(text)
    return made.hex()
  }
  /** Works the revision out. Passwords are dear: it is ten times the work of `hashMade`. */
  const hashLines = async () => {
    const made = startMade()
    const lines = createSha256()
    let count = 0
    for await (const { found } of walk(ALL_BLOCKS, list)) {
      for (const ids of found) made.add(ids.join(''))
      const clients = clientsOf(found)
      lines.add(linesOf(clients))
      count += clients.length
    }
    return { made: made.hex(), revision: lines.hex(), count }
  }

  return {
    async *pieces(blocks = ALL_BLOCKS) {
      for await (const { blocks: own, found } of walk(blocks, list)) {
        yield { blocks: own, clients: clientsOf(found) }
      }
    },
    async summary(core) {
      if (core.known?.made !== (await hashMade())) core.known = await hashLines()
      return core.known
    },
  }
}
