/**
 * A Map and a Set of texts that strangers choose. Bun hashes texts in a way that everybody can compute (WebKit's `RapidHash.h` has no secret), so
 * that 20,000 of one hash hold a plain one up for seconds: here each stands behind a beginning that nobody can know.
 */
import { randomToken } from './random.ts'

const UNGUESSABLE = randomToken().slice(0, 8)

export class TextMap<V> {
  readonly #entries = new Map<string, [key: string, value: V]>()
  get size(): number {
    return this.#entries.size
  }
  get(key: string): V | undefined {
    return this.#entries.get(UNGUESSABLE + key)?.[1]
  }
  set(key: string, value: V): void {
    this.#entries.set(UNGUESSABLE + key, [key, value])
  }
  delete(key: string): void {
    this.#entries.delete(UNGUESSABLE + key)
  }
  clear(): void {
    this.#entries.clear()
  }
  [Symbol.iterator](): Iterator<[key: string, value: V]> {
    return this.#entries.values()
  }
}

export class TextSet {
  readonly #texts = new TextMap<true>()
  constructor(texts: Iterable<string> = []) {
    for (const text of texts) this.add(text)
  }
  get size(): number {
    return this.#texts.size
  }
  has(text: string): boolean {
    return this.#texts.get(text) === true
  }
  add(text: string): void {
    this.#texts.set(text, true)
  }
  *[Symbol.iterator](): Iterator<string> {
    for (const [text] of this.#texts) yield text
  }
}
