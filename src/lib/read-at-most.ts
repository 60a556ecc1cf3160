/** Bodies of strangers, read no further than they may be long. */

const FIRST_BYTES = 1024

/**
 * All bytes of a body, or null as soon as there are more than `maxBytes`. They are put together as they come: each piece takes hundreds of
 * bytes of its own, and a stranger can send a body in pieces of one.
 */
export async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array | null> {
  let bytes = new Uint8Array(FIRST_BYTES)
  let size = 0
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    const end = size + piece.length
    if (end > maxBytes) return null
    if (end > bytes.length) {
      const larger = new Uint8Array(Math.max(end, Math.min(2 * bytes.length, maxBytes)))
      larger.set(bytes)
      bytes = larger
    }
    bytes.set(piece, size)
    size = end
  }
  return bytes.subarray(0, size)
}
