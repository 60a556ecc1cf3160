/** Sets of clients: their text form, their difference, and the removal brake. */
import type { ClientMap } from '#src/services.ts'

/** The text whose SHA-256 is a client revision: a line for each client, sorted. */
export function joinLines(clients: ClientMap): string {
  const lines = Array.from(clients, ([uuid, value]) => `${uuid} ${value}\n`)
  return lines.sort().join('')
}

export function splitLines(lines: string[]): ClientMap {
  return new Map(lines.map((line) => [line.slice(0, 36), line.slice(37)]))
}

/** What must be added (or given another value) and removed so that `present` becomes `wanted`. */
export function diffClients(present: ClientMap, wanted: ClientMap) {
  const add: [string, string][] = []
  for (const [uuid, value] of wanted) if (present.get(uuid) !== value) add.push([uuid, value])
  const remove = [...present.keys()].filter((uuid) => !wanted.has(uuid))
  return { add, remove }
}

/** Up to this many removals always pass. */
const BRAKE_COUNT = 20

/** The node of a client's value. */
export const groupOf = (value: string): string => value.split(' ', 1)[0] as string

/**
 * The removal brake: of a group that would lose more than 20 and more than half of its clients, nothing is removed and the
 * group is named. `kept`: clients that are no loss.
 */
export function brakeRemovals(
  present: ClientMap,
  remove: string[],
  kept: Set<string>,
): { remove: string[]; blocked: Set<string> } {
  const held = new Map<string, number>()
  const losses = new Map<string, number>()
  const count = (groups: Map<string, number>, uuid: string) => {
    const group = groupOf(present.get(uuid) as string)
    groups.set(group, (groups.get(group) ?? 0) + 1)
  }
  for (const uuid of present.keys()) count(held, uuid)
  for (const uuid of remove) if (!kept.has(uuid)) count(losses, uuid)
  const blocked = new Set<string>()
  for (const [group, lost] of losses) {
    if (lost > BRAKE_COUNT && lost * 2 > (held.get(group) ?? 0)) blocked.add(group)
  }
  const passes = (uuid: string) =>
    kept.has(uuid) || !blocked.has(groupOf(present.get(uuid) as string))
  return { remove: remove.filter(passes), blocked }
}
