/**
 * Answers of the node program. The lists in them may be long, and a node that lies may make them as long as it likes: they are
 * read in slices, between which all else has its turn, and what is left of the answer is short or no answer.
 */
import { NodeError } from '#src/lib/errors.ts'
import { nextTurn } from '#src/lib/event-loop.ts'
import { decodeJson } from '#src/lib/json.ts'

/**
 * The longest line of `list` is `["UUID","GROUP","auth=AUTH"],` with a group of 32 and an AUTH of 43 characters: 127 bytes, so that
 * 100,000 clients are at most 12.7 MB, commonly 5; their counters of both cores, 100 million bytes each, 13 MB.
 */
export const LONGEST_ANSWER = 16 * 1024 * 1024
/** In one list: of 100,000 clients, and of as many who have left since the core's start. */
export const MOST_ENTRIES = 200_000
/** Of an answer without its lists; a refusal quotes up to 500 bytes of what a core said. */
const LONGEST_REST = 16 * 1024
/** Read in a few milliseconds. */
const SLICE = 5000
const SLICE_BYTES = 256 * 1024

/** How a list is found and read: entries, each of which `entry` (sticky) matches as a whole; `read` gives null for one that cannot be. No text in them is escaped. */
export interface ListForm<T> {
  key: string
  entry: RegExp
  read(entry: string): T | null
}

export interface Answer<T> {
  /** The JSON, with the number of its list in place of each. */
  json: unknown
  lists: T[][]
}

/** That an answer is nothing which the program says. */
export const garbage = (verb: string, what: string) =>
  new NodeError('garbage', `the node program's answer to "${verb}" ${what}`)

/** Where each of the entries from `begin` on ends, of a slice at most; null when one is malformed. */
function endsOfSlice(text: string, begin: number, entry: RegExp) {
  const ends: number[] = []
  for (let at = begin; ; at++) {
    entry.lastIndex = at
    if (!entry.test(text)) return null
    at = entry.lastIndex
    ends.push(at)
    if (text[at] !== ',' || ends.length === SLICE || at - begin > SLICE_BYTES) return ends
  }
}

/** A text of its own: a piece of another would keep all of that in memory. */
const copyOf = (text: string) => Buffer.from(text, 'latin1').toString('latin1')

/** The list whose first entry begins at `begin`, and where the text goes on behind it; null for a malformed or endless one. */
async function readList<T>(text: string, begin: number, { entry, read }: ListForm<T>) {
  const list: T[] = []
  if (text[begin] === ']') return { list, end: begin + 1 }
  for (let at = begin; list.length < MOST_ENTRIES; ) {
    const ends = endsOfSlice(text, at, entry)
    if (ends === null) return null
    const end = ends.at(-1) as number
    // Cut, not parsed: what JSON.parse makes of texts that a node chooses takes Bun seconds (lib/json.ts).
    const slice = copyOf(text.slice(at, end))
    let from = 0
    for (const to of ends) {
      const one = read(slice.slice(from, to - at))
      if (one === null) return null
      list.push(one)
      from = to - at + 1
    }
    if (text[end] === ']') return { list, end: end + 1 }
    if (text[end] !== ',') return null
    at = end + 1
    await nextTurn()
  }
  return null
}

/**
 * Reads an answer and its lists. `"KEY":[` stands in no string of a JSON text, where its quotes would be escaped: what is found is
 * the list. Throws NodeError `garbage`.
 */
export async function readAnswer<T>(
  verb: string,
  text: string,
  form: ListForm<T> | null,
): Promise<Answer<T>> {
  const lists: T[][] = []
  let rest = ''
  let at = 0
  if (form) {
    const opening = `"${form.key}":[`
    for (let found = text.indexOf(opening); found >= 0; found = text.indexOf(opening, at)) {
      const read = await readList(text, found + opening.length, form)
      if (!read) throw garbage(verb, 'is not understood')
      rest += `${text.slice(at, found)}"${form.key}":${lists.length}`
      lists.push(read.list)
      at = read.end
      if (rest.length > LONGEST_REST) break
    }
  }
  if (rest.length + text.length - at > LONGEST_REST) throw garbage(verb, 'is too long')
  rest += text.slice(at)
  try {
    return { json: decodeJson(new TextEncoder().encode(rest)), lists }
  } catch {
    throw garbage(verb, 'is no JSON')
  }
}
