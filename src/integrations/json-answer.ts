/** Answers of outside systems: strangers until they prove to be what was expected. */

/** The JSON object that the bytes hold, or null: an HTML page, a cut answer, garbage. */
export function jsonObject(body: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
