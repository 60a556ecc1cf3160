/** JSON from outside: strict UTF-8, and an object where one is expected. */

export type JsonObject = Record<string, unknown>

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value that the bytes hold. Throws for what is no UTF-8 or no JSON. */
export const decodeJson = (bytes: Uint8Array): unknown => JSON.parse(strictUtf8.decode(bytes))

/** The JSON object that the bytes hold, or null: an HTML page, a cut answer, garbage. */
export function jsonObject(bytes: Uint8Array): JsonObject | null {
  try {
    const value = decodeJson(bytes)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}
