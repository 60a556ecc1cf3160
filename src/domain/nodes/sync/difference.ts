/** Where the clients that a core holds differ from those that it should hold: found some at a time, none of which is kept here. */
import { NodeError } from '#src/lib/errors.ts'
import { slices } from '#src/lib/event-loop.ts'
import { TextMap } from '#src/lib/text-map.ts'
import type { CoreStatus, NodeProgram } from '#src/ports/node-program.ts'
import {
  blockName,
  blockOf,
  type ClientLine,
  type Counts,
  countIn,
  groupOf,
  hashOfBlock,
  type Removal,
} from './sets.ts'
import type { WantedClients } from './wanted.ts'

/** A look at the clients of a core, while it lasts. */
export interface Look {
  /** The revision of the clients that the core holds. Whoever changes some of those that were found sets it: the rest must be of it. */
  revision: string
  /** How many of the clients looked at until now each group held before. */
  held: Counts
}

export interface Differing {
  /** Clients that the core has not, or with another value. */
  add: ClientLine[]
  remove: Removal[]
}

/** So many clients are listed, or changed, in a call of the node program: about a megabyte. */
export const PORTION = 5000

/** The first program that knows blocks. */
const PROGRAM_WITH_BLOCKS = 2

/** More clients than a node has: what a lying one lists is kept until it is compared. */
export const MOST_CLIENTS = 500_000

type Blocks = Pick<NodeProgram, 'blocks' | 'list'>

/** Finds how these clients differ from those wanted in their place. */
async function* compare(
  { held }: Look,
  listed: ClientLine[],
  wanted: AsyncIterable<{ clients: ClientLine[] }>,
): AsyncGenerator<Differing> {
  const present = new TextMap<string>()
  for await (const some of slices(listed, PORTION)) {
    for (const [uuid, value] of some) {
      present.set(uuid, value)
      countIn(held, groupOf(value))
    }
  }
  for await (const { clients } of wanted) {
    const add: ClientLine[] = []
    for (const client of clients) {
      const [uuid, value] = client
      if (present.get(uuid) !== value) add.push(client)
      present.delete(uuid)
    }
    yield { add, remove: [] }
  }
  const remove = Array.from(present, ([uuid, value]): Removal => [uuid, groupOf(value)])
  yield { add: [], remove }
}

/** Which blocks have other hashes than these. The clients of the others are counted as held. */
async function differingBlocks(
  wanted: WantedClients,
  hashes: string[],
  held: Counts,
): Promise<number[]> {
  const differing: number[] = []
  for await (const { blocks, clients } of wanted.pieces()) {
    const perBlock = Map.groupBy(clients, ([uuid]) => blockOf(uuid))
    for (const block of blocks) {
      const own = perBlock.get(block) ?? []
      if (hashOfBlock(own) !== hashes[block]) differing.push(block)
      else for (const [, value] of own) countIn(held, groupOf(value))
    }
  }
  return differing
}

/** Lists the clients of some blocks as they were at a revision. */
async function listAt(program: Blocks, revision: string, blocks: number[]): Promise<ClientLine[]> {
  if (blocks.length === 0) return []
  const { clients, lines } = await program.list(blocks.map(blockName))
  if (clients !== revision) throw new NodeError('stale', 'the clients have changed')
  return lines
}

/** Compares block by block, and lists no more than a portion at a time. */
async function* compareBlocks(
  program: Blocks,
  wanted: WantedClients,
  look: Look,
  portion: number,
): AsyncGenerator<Differing> {
  const { clients, count, blocks } = await program.blocks()
  look.revision = clients
  const differing = await differingBlocks(wanted, blocks, look.held)
  const size = Math.max(1, Math.floor((portion * blocks.length) / count))
  let listed = 0
  for (let start = 0; start < differing.length; start += size) {
    const some = differing.slice(start, start + size)
    const filled = some.filter((block) => blocks[block] !== '')
    const lines = await listAt(program, look.revision, filled)
    listed += lines.length
    if (listed > MOST_CLIENTS) throw new NodeError('garbage', 'the node lists too many clients')
    yield* compare(look, lines, wanted.pieces(some))
  }
}

/** Finds what to change on a core. The wanted clients are read after those that it holds. Throws NodeError, `stale` when they change meanwhile. */
export async function* findDifferences(
  program: Blocks,
  { program: version, count }: Pick<CoreStatus, 'program' | 'count'>,
  wanted: WantedClients,
  look: Look,
  portion = PORTION,
): AsyncGenerator<Differing> {
  if (version >= PROGRAM_WITH_BLOCKS && count > portion) {
    yield* compareBlocks(program, wanted, look, portion)
    return
  }
  const { clients, lines } = await program.list()
  look.revision = clients
  yield* compare(look, lines, wanted.pieces())
}
