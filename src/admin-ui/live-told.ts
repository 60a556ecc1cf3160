/** What the stream of this moment told, put together. */

interface Coded {
  code: string
}

/** The nodes with this one as it is now: in its place, or at the end. */
export const withNode = <N extends Coded>(nodes: readonly N[], node: N): N[] =>
  nodes.some(({ code }) => code === node.code)
    ? nodes.map((one) => (one.code === node.code ? node : one))
    : [...nodes, node]

/** Says whether something is told for the first time; remembers so many of the last ones. */
export function tellsOnce(most: number): (id: string) => boolean {
  const told = new Set<string>()
  return (id) => {
    if (told.has(id)) return false
    told.add(id)
    if (told.size > most)
      for (const oldest of [...told].slice(0, told.size - most)) told.delete(oldest)
    return true
  }
}
