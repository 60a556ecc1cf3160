/** Lets callers who ask the same question at the same time share one answer. */

export type SingleFlight<T> = (key: string, ask: () => Promise<T>) => SharedAnswer<T>

export interface SharedAnswer<T> {
  answer: Promise<T>
  /** Whether the question had been asked before this caller came: the answer may be older than what brought them. */
  joined: boolean
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Promise<T>>()
  return (key, ask) => {
    const under = flights.get(key)
    if (under !== undefined) return { answer: under, joined: true }
    const answer = ask().finally(() => flights.delete(key))
    flights.set(key, answer)
    return { answer, joined: false }
  }
}
