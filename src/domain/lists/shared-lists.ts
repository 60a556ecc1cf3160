/** Lists as all have them alike who have one subscription on the same nodes: written once, with what tells one client from another put in. */
import { hysteriaAuth } from '#src/domain/nodes/hysteria-auth.ts'
import { soundUuid } from '#src/domain/nodes/sound.ts'
import { randomUuid } from '#src/lib/random.ts'
import type { ListSource } from './entries.ts'

/** Whose list is written for all. Drawn at each start: nothing that somebody stored can have it in it. */
const ANYBODY = soundUuid(randomUuid())

/** What stands in a list for a client. */
type Mark = (uuid: string) => string
const itself: Mark = (uuid) => uuid

interface SharedList {
  /** What stands between the marks. */
  pieces: string[]
  marks: Mark[]
}

/** A list of anybody's, taken apart at what only they have. */
function sharedList(text: string, sources: ListSource[]): SharedList {
  const marks = new Map<string, Mark>([[ANYBODY, itself]])
  for (const { node } of sources) {
    const { hysteriaPassword: password } = node
    if (password) marks.set(hysteriaAuth(password, ANYBODY), (uuid) => hysteriaAuth(password, uuid))
  }
  const parts = text.split(new RegExp(`(${[...marks.keys()].join('|')})`))
  return {
    pieces: parts.filter((_, i) => i % 2 === 0),
    marks: parts.flatMap((part, i) => (i % 2 === 0 ? [] : [marks.get(part) as Mark])),
  }
}

function listFor({ pieces, marks }: SharedList, uuid: string): string {
  // In one go, which takes half as long.
  if (marks.every((mark) => mark === itself)) return pieces.join(uuid)
  return pieces.map((piece, i) => piece + (marks[i]?.(uuid) ?? '')).join('')
}

/** Characters of lists that are kept: apps name versions of theirs, so that there may be many. */
const MOST_KEPT = 4 * 1024 ** 2

/** A writer of lists that keeps them while what they are made of, `from`, stands; `how` says which form `write` gives them. */
export function createSharedLists<From extends object>() {
  let madeOf: From | null = null
  let kept = new Map<string, SharedList>()
  let characters = 0
  return (
    from: From,
    how: string,
    sources: ListSource[],
    write: (sources: ListSource[]) => string,
  ): string => {
    const [first] = sources
    if (!first) return write(sources)
    if (madeOf !== from || characters > MOST_KEPT) {
      madeOf = from
      kept = new Map()
      characters = 0
    }
    let key = how
    for (const { node } of sources) key += ` ${node.code}`
    let found = kept.get(key)
    if (!found) {
      const text = write(sources.map((source) => ({ ...source, uuid: ANYBODY })))
      found = sharedList(text, sources)
      kept.set(key, found)
      characters += text.length
    }
    return listFor(found, first.uuid)
  }
}
