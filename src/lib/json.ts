/** JSON from outside: strict UTF-8, and an object where one is expected. */

export type JsonObject = Record<string, unknown>

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** How many strings a JSON text has, keys among them. */
export function countStrings(bytes: Uint8Array): number {
  let quotes = 0
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === BACKSLASH) i++
    else if (bytes[i] === QUOTE) quotes++
  }
  return quotes / 2
}

/**
 * Bun keeps the keys and texts of what it parses in a table of the thread until it collects garbage, by a hash that has no secret (WebKit's
 * `RapidHash.h`): of strings of one hash, which everybody can compute, each is held against all before it, and 80 requests of 20 KB took
 * it a minute. So garbage is collected before there are many: 0.5 to 10 ms. Node's hash has a secret.
 */
const collect = (globalThis as { Bun?: { gc(now: boolean): void } }).Bun?.gc
const MOST_KEPT = 1000
let kept = 0

/** Notes strings of strangers that the thread is about to keep. */
function noteStrings(count: number): void {
  kept += count
  if (kept <= MOST_KEPT) return
  collect?.(true)
  kept = count
}

/** The value that the bytes hold. Throws for what is no UTF-8 or no JSON. */
export function decodeJson(bytes: Uint8Array): unknown {
  if (collect) noteStrings(countStrings(bytes))
  return JSON.parse(strictUtf8.decode(bytes))
}

/** The JSON object that the bytes hold, or null: an HTML page, a cut answer, garbage. */
export function jsonObject(bytes: Uint8Array): JsonObject | null {
  try {
    const value = decodeJson(bytes)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}
