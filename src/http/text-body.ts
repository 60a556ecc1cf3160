/** Texts as bodies of answers. */
import { utf8 } from '#src/lib/encoding.ts'

/** From so many bytes on Bun writes what comes in a later turn than its request piece by piece (1.4.5). */
const LARGE = 15 * 1024
const MOST_BYTES_OF_UNIT = 3

/**
 * A text as the body of an answer. All of ours come in a later turn (src/serve.ts), and Bun then sends the head of a large one in four
 * pieces for each header, which cost more than all else of the answer; of a stream it sends head and first chunk together, without a Content-Length.
 */
export function textBody(text: string): string | ReadableStream<Uint8Array> {
  if (!('Bun' in globalThis) || text.length * MOST_BYTES_OF_UNIT < LARGE) return text
  const bytes = utf8(text)
  if (bytes.length < LARGE) return text
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}
