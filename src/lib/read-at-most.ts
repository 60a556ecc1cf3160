/** Bodies of strangers, read no further than they may be long. */
import type { ByteBudget } from './byte-budget.ts'
import { tooManyBodies } from './errors.ts'
import { createGrowingBytes } from './growing-bytes.ts'

/** What has room in so much needs no leave: whoever fills a budget keeps nobody's login or notice from being read. */
const FREE_BYTES = 16 * 1024

/**
 * All bytes of a body, or null as soon as there are more than `maxBytes`. Large ones that are under way at once share `budget`, until
 * `ready`, called with the whole of one, lets it go. Throws 503 where that is used up, and what `ready` throws.
 */
export async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  budget?: ByteBudget,
  ready: (bytes: Uint8Array) => Promise<void> = async () => {},
): Promise<Uint8Array | null> {
  let held = 0
  const bytes = createGrowingBytes(maxBytes, (room) => {
    if (!budget || room <= FREE_BYTES) return
    if (!budget.take(room - held)) throw tooManyBodies()
    held = room
  })
  try {
    for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
      if (!bytes.add(piece)) return null
    }
    const whole = bytes.taken()
    await ready(whole)
    return whole
  } finally {
    budget?.give(held)
  }
}
