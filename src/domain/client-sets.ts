/** Sets of clients: their text form, their difference, and the removal brake. */
import type { ClientMap } from '#src/services.ts'

/** The text whose SHA-256 is a client revision: sorted `UUID GROUP` lines. */
export function joinLines(clients: ClientMap): string {
  const lines = Array.from(clients, ([uuid, group]) => `${uuid} ${group}\n`)
  return lines.sort().join('')
}

export function splitLines(lines: string[]): ClientMap {
  return new Map(lines.map((line) => [line.slice(0, 36), line.slice(37)]))
}

/** What must be added (or moved to another group) and removed so that `present` becomes `wanted`. */
export function diffClients(present: ClientMap, wanted: ClientMap) {
  const add: [string, string][] = []
  for (const [uuid, group] of wanted) if (present.get(uuid) !== group) add.push([uuid, group])
  const remove = [...present.keys()].filter((uuid) => !wanted.has(uuid))
  return { add, remove }
}

/** Up to this many removals always pass. */
const BRAKE_COUNT = 20

/**
 * The removal brake: of a group that would lose more than 20 and more than half of its clients, nothing is removed and the
 * group is named.
 */
export function brakeRemovals(
  present: ClientMap,
  wanted: ClientMap,
  remove: string[],
): { remove: string[]; blocked: Set<string> } {
  const held = new Map<string, number>()
  for (const group of present.values()) held.set(group, (held.get(group) ?? 0) + 1)
  const losses = new Map<string, number>()
  for (const uuid of remove) {
    const group = present.get(uuid) as string
    losses.set(group, (losses.get(group) ?? 0) + 1)
  }
  for (const [uuid, group] of present) {
    const moved = wanted.get(uuid)
    if (moved !== undefined && moved !== group) losses.set(group, (losses.get(group) ?? 0) + 1)
  }
  const blocked = new Set<string>()
  for (const [group, lost] of losses) {
    if (lost > BRAKE_COUNT && lost * 2 > (held.get(group) ?? 0)) blocked.add(group)
  }
  return { remove: remove.filter((uuid) => !blocked.has(present.get(uuid) as string)), blocked }
}
