import { expect, test } from 'vitest'
import { readAtMost } from '#src/lib/read-at-most.ts'

/** A body of the numbers from 0, in pieces of so many bytes that all lie in the same memory: whoever keeps a piece has the last one. */
function bodyOf(length: number, pieceBytes: number): ReadableStream<Uint8Array> {
  const piece = new Uint8Array(pieceBytes)
  let at = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (at >= length) return controller.close()
        const part = piece.subarray(0, Math.min(pieceBytes, length - at))
        for (let i = 0; i < part.length; i++) part[i] = at++ % 251
        controller.enqueue(part)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Whether it is that body, without a difference of thousands of lines where it is not. */
const isNumbers = (bytes: Uint8Array | null, length: number) =>
  bytes?.length === length && bytes.every((byte, i) => byte === i % 251)

test('no body has no bytes', async () => {
  expect(await readAtMost(null, 10)).toEqual(new Uint8Array(0))
  expect(await readAtMost(bodyOf(0, 1), 10)).toEqual(new Uint8Array(0))
})

test.each([
  [1, 1],
  [1024, 1],
  [1025, 1],
  [100_000, 1],
  [100_000, 999],
  [100_000, 70_000],
])('of %i bytes in pieces of %i none of the pieces is kept', async (length, pieceBytes) => {
  expect(isNumbers(await readAtMost(bodyOf(length, pieceBytes), 100_000), length)).toBe(true)
})

test.each([1, 1024, 5000])(
  'a body may have as many bytes as allowed, in pieces of %i',
  async (pieceBytes) => {
    expect(isNumbers(await readAtMost(bodyOf(5000, pieceBytes), 5000), 5000)).toBe(true)
    expect(await readAtMost(bodyOf(5001, pieceBytes), 5000)).toBeNull()
  },
)
