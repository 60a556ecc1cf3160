/** What is counted in memory, for all processes of a service that answer requests: by one of them, whom the others ask. */
import type { Clock } from './clock.ts'
import { inTime } from './pause.ts'
import { createRests, type Rests } from './rests.ts'
import { createTurns, type Share, type Turns } from './turns.ts'

/** What they say to each other. */
export type CountWord =
  | { says: 'take'; id: number; of: string; longestMs: number; shares: Share[] }
  | { says: 'taken'; id: number; waitMs: number }
  | { says: 'rest'; name: string; ms: number }

/** An answer takes a fraction of a millisecond. */
const ANSWER_MS = 1000

type Tell = (word: CountWord) => void

export interface Counts {
  /** Turns by their name, whose rates are at most `longestMs` long. */
  turnsOf(name: string, longestMs: number): Turns
  rests: Rests
  /** Counts for another process too, which `tell` reaches. */
  admit(tell: Tell): { hear(word: CountWord): Promise<void>; leave(): void }
}

export function createCounts(clock: Clock): Counts {
  const rests = createRests(clock)
  const known = new Map<string, Turns>()
  const others = new Set<Tell>()

  const turnsOf = (name: string, longestMs: number): Turns => {
    const turns = known.get(name) ?? createTurns(clock, longestMs)
    known.set(name, turns)
    return turns
  }
  const rest = (name: string, ms: number, by?: Tell) => {
    rests.rest(name, ms)
    for (const tell of others) if (tell !== by) tell({ says: 'rest', name, ms })
  }
  return {
    turnsOf,
    rests: { leftMs: rests.leftMs, rest },
    admit(tell) {
      others.add(tell)
      return {
        async hear(word) {
          if (word.says === 'rest') rest(word.name, word.ms, tell)
          if (word.says !== 'take') return
          const { id, of, longestMs, shares } = word
          tell({ says: 'taken', id, waitMs: await turnsOf(of, longestMs).take(...shares) })
        },
        leave: () => others.delete(tell),
      }
    },
  }
}

/** The counts of a process whose turns another one counts, which `tell` reaches; by itself where that gives no answer. */
export function joinCounts(clock: Clock, tell: Tell) {
  const own = createCounts(clock)
  const asked = new Map<number, (waitMs: number) => void>()
  let isAlone = false
  let last = 0

  const ask = (of: string, longestMs: number, shares: Share[]): Promise<number | null> => {
    const id = ++last
    const answer = new Promise<number>((resolve) => asked.set(id, resolve))
    tell({ says: 'take', id, of, longestMs, shares })
    return inTime(answer, ANSWER_MS, null).finally(() => asked.delete(id))
  }
  const turnsOf: Counts['turnsOf'] = (of, longestMs) => ({
    async take(...shares) {
      const waitMs = isAlone ? null : await ask(of, longestMs, shares)
      return waitMs ?? own.turnsOf(of, longestMs).take(...shares)
    },
  })
  const rests: Rests = {
    leftMs: own.rests.leftMs,
    rest(name, ms) {
      own.rests.rest(name, ms)
      tell({ says: 'rest', name, ms })
    },
  }
  const counts: Counts = { ...own, turnsOf, rests }
  return {
    counts,
    hear(word: CountWord): void {
      if (word.says === 'rest') own.rests.rest(word.name, word.ms)
      if (word.says === 'taken') asked.get(word.id)?.(word.waitMs)
    },
    /** Nobody else counts any more. */
    leave(): void {
      isAlone = true
    },
  }
}
