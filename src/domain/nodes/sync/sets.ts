/** Sets of clients: their text form, their blocks, and the removal brake. */
import { createSha256 } from '#src/lib/crypto.ts'
import { TextMap, TextSet } from '#src/lib/text-map.ts'
import type { ClientMap } from '#src/ports/node-program.ts'

/** A client with its value (ports/node-program.ts, ClientMap). */
export type ClientLine = [uuid: string, value: string]

const lineOf = ([uuid, value]: ClientLine) => `${uuid} ${value}\n`

/** The lines of sorted clients, as the node program has them. */
export const linesOf = (sorted: ClientLine[]): string => sorted.map(lineOf).join('')

/** The text whose SHA-256 is a client revision: a line for each client, sorted. */
export const joinLines = (clients: ClientMap): string => Array.from(clients, lineOf).sort().join('')

/** The node of a client's value. */
export const groupOf = (value: string): string => value.split(' ', 1)[0] as string

/** Counts by group. */
export type Counts = TextMap<number>

/** Names of groups. */
export type Groups = TextSet | ReadonlySet<string>

export function countIn(counts: Counts, group: string): void {
  counts.set(group, (counts.get(group) ?? 0) + 1)
}

/** Numbers of all blocks: a block has the clients whose UUIDs begin with the same two digits (docs/node-program.md). */
export const ALL_BLOCKS: readonly number[] = Array.from({ length: 256 }, (_, block) => block)

/** A block's two digits. The one behind the last is named by what comes behind all digits. */
export const blockName = (block: number): string =>
  block < 256 ? block.toString(16).padStart(2, '0') : 'g'

export const blockOf = (uuid: string): number => Number.parseInt(uuid.slice(0, 2), 16)

/** The hash of a block that the node program tells of these clients, sorted; empty for none. */
export function hashOfBlock(sorted: ClientLine[]): string {
  if (sorted.length === 0) return ''
  const sum = createSha256()
  sum.add(linesOf(sorted))
  return sum.hex()
}

/** Up to this many removals always pass. */
const BRAKE_COUNT = 20

/** A client that is to be removed, and the group that it is in. */
export type Removal = [uuid: string, group: string]

/**
 * The removal brake: of a group that would lose more than 20 and more than half of its clients, nothing is removed and the
 * group is named. `held`: how many clients each group has. `kept`: clients that are no loss.
 */
export function brakeRemovals(
  held: Counts,
  remove: Removal[],
  kept: Set<string>,
): { remove: Removal[]; blocked: TextSet } {
  const losses: Counts = new TextMap()
  for (const [uuid, group] of remove) if (!kept.has(uuid)) countIn(losses, group)
  const blocked = new TextSet()
  for (const [group, lost] of losses) {
    if (lost > BRAKE_COUNT && lost * 2 > (held.get(group) ?? 0)) blocked.add(group)
  }
  const passes = ([uuid, group]: Removal) => kept.has(uuid) || !blocked.has(group)
  return { remove: remove.filter(passes), blocked }
}
