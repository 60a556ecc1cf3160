/** Bytes that come in pieces, put together as they come: each piece takes hundreds of bytes of its own, and a stranger can send pieces of one. */

const FIRST_BYTES = 1024

export interface GrowingBytes {
  /** Takes a piece; false, and nothing is taken, where there would be more than the limit. */
  add(piece: Uint8Array): boolean
  /** What was taken until now: of a buffer of its own, which later pieces may be put into. */
  taken(): Uint8Array<ArrayBuffer>
}

/** Room for at most `maxBytes`, which grows with what it takes; `grow` is called with what it is about to be, and may throw. */
export function createGrowingBytes(
  maxBytes: number,
  grow: (room: number) => void = () => {},
): GrowingBytes {
  let bytes = new Uint8Array(FIRST_BYTES)
  let size = 0
  return {
    add(piece) {
      const end = size + piece.length
      if (end > maxBytes) return false
      if (end > bytes.length) {
        const room = Math.max(end, Math.min(2 * bytes.length, maxBytes))
        grow(room)
        const larger = new Uint8Array(room)
        larger.set(bytes)
        bytes = larger
      }
      bytes.set(piece, size)
      size = end
      return true
    },
    taken: () => bytes.subarray(0, size),
  }
}
