/** Lines in which whoever waits takes turns by whom it is for, however many of one there are. */
import { tooBusy } from './errors.ts'

export interface FairLine<T> {
  /**
   * Adds an item behind those of its key. Where the line is full, gives the one that has no place in it: the newest of the key that has
   * most, or the item itself. `own` has half of the line whatever others have, and loses nothing to them within it.
   */
  add(key: string, item: T): T | undefined
  /** Takes the next one, of each key in turn; every second one is of `own`. */
  next(): T | undefined
  /** The first of each key. */
  heads(): T[]
  /** Takes those from the front of each key's that `isOver`. */
  leave(isOver: (item: T) => boolean): T[]
  size(): number
}

/** A line of at most `most`. `own`: the key of those who wait for no crowd of others. */
export function createFairLine<T>(most: number, own?: string): FairLine<T> {
  const lines = new Map<string, T[]>()
  let size = 0
  let isOwnTurn = true

  const shift = (key: string): T | undefined => {
    const line = lines.get(key) ?? []
    const item = line.shift()
    // At the end of all keys, or out of them.
    lines.delete(key)
    if (line.length > 0) lines.set(key, line)
    if (item !== undefined) size--
    return item
  }
  const lengthOf = (key: string) => lines.get(key)?.length ?? 0
  const isInOwnHalf = (key: string) => key === own && lengthOf(key) <= most / 2
  /** Who has most of all but a key; the key itself where there is nobody else. */
  const crowdBeside = (key: string): string => {
    let crowd = key
    for (const [other, { length }] of lines) {
      const isOther = other !== key && !isInOwnHalf(other)
      if (isOther && (crowd === key || length > lengthOf(crowd))) crowd = other
    }
    return crowd
  }
  /** Takes the newest of whoever has most, to make room for one more of a key; nothing where nobody has more than that would have. */
  const makeRoom = (key: string): T | undefined => {
    const crowd = crowdBeside(key)
    const least = key === own && lengthOf(key) < most / 2 ? 0 : lengthOf(key) + 1
    if (crowd === key || lengthOf(crowd) <= least) return undefined
    const left = lines.get(crowd)?.pop()
    if (lengthOf(crowd) === 0) lines.delete(crowd)
    size--
    return left
  }
  return {
    add(key, item) {
      const left = size < most ? undefined : makeRoom(key)
      if (size >= most) return item
      const line = lines.get(key) ?? []
      line.push(item)
      lines.set(key, line)
      size++
      return left
    },
    next() {
      const isOwn = own !== undefined && isOwnTurn && lines.has(own)
      isOwnTurn = !isOwn
      if (isOwn) return shift(own)
      for (const key of lines.keys()) if (key !== own) return shift(key)
      return own === undefined ? undefined : shift(own)
    },
    heads: () => [...lines.values()].flatMap(([first]) => (first === undefined ? [] : [first])),
    leave(isOver) {
      const left: T[] = []
      for (const [key, line] of lines) {
        while (line[0] !== undefined && isOver(line[0])) left.push(line.shift() as T)
        if (line.length === 0) lines.delete(key)
      }
      size -= left.length
      return left
    },
    size: () => size,
  }
}

/** Runs work that is for somebody, named by a key. */
export type FairLimiter = <T>(key: string, work: () => Promise<T>) => Promise<T>

interface Waiting {
  begin(): void
  refuse(error: Error): void
}

/** At most `atATime` run and `most` wait, in a fair line; who has no place in it is refused with 503. */
export function createFairLimiter(atATime: number, most: number): FairLimiter {
  let running = 0
  const line = createFairLine<Waiting>(most)
  const turn = (key: string) =>
    new Promise<void>((begin, refuse) => line.add(key, { begin, refuse })?.refuse(tooBusy()))
  return async (key, work) => {
    if (running < atATime) running++
    else await turn(key)
    try {
      return await work()
    } finally {
      const next = line.next()
      if (next) next.begin()
      else running--
    }
  }
}
