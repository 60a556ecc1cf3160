/** JSON from outside: strict UTF-8, and an object where one is expected. */

export type JsonObject = Record<string, unknown>

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value that the bytes hold. Throws for what is no UTF-8 or no JSON. */
export const decodeJson = (bytes: Uint8Array): unknown => JSON.parse(strictUtf8.decode(bytes))

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Whether a JSON text has at most so many strings, keys among them; looks no further than that. Bun keeps what it parses in tables by a hash that
 * has no secret (WebKit's `RapidHash.h`), so strings of one hash can be computed: 23,000 in 250 KB held it up for seconds, the time grows
 * with their square.
 */
export function hasAtMostStrings(bytes: Uint8Array, most: number): boolean {
  let quotes = 0
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === BACKSLASH) i++
    else if (bytes[i] === QUOTE && ++quotes > 2 * most) return false
  }
  return true
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
