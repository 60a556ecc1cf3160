/** Bodies of strangers, read no further than they may be long. */
import { createGrowingBytes } from './growing-bytes.ts'

/** All bytes of a body, or null as soon as there are more than `maxBytes`. */
export async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array | null> {
  const bytes = createGrowingBytes(maxBytes)
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    if (!bytes.add(piece)) return null
  }
  return bytes.taken()
}
