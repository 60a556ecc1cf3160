import { describe, expect, test } from 'vitest'
import { createByteBudget } from '#src/lib/byte-budget.ts'
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

describe('large bodies share a budget', () => {
  const KB = 1024
  /** A body that has begun and does not end until it is told to. */
  function slowBody(bytes: number) {
    let end = () => {}
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(bytes))
        end = () => controller.close()
      },
    })
    return { body, end: () => end() }
  }
  const settled = () => new Promise((resolve) => setTimeout(resolve, 5))

  test('one too many is refused with 503; small ones are read all the same; room comes back with each end', async () => {
    const budget = createByteBudget(100 * KB)
    const first = slowBody(60 * KB)
    const under = readAtMost(first.body, 256 * KB, budget)
    await settled()
    await expect(readAtMost(bodyOf(60 * KB, KB), 256 * KB, budget)).rejects.toMatchObject({
      status: 503,
      headers: { Connection: 'close', 'Retry-After': '5' },
    })
    expect(isNumbers(await readAtMost(bodyOf(16 * KB, KB), 256 * KB, budget), 16 * KB)).toBe(true)
    first.end()
    expect((await under)?.length).toBe(60 * KB)
    // All of it is there again, after refusals and cut bodies too.
    expect(await readAtMost(bodyOf(60 * KB, KB), 50 * KB, budget)).toBeNull()
    expect(budget.take(100 * KB)).toBe(true)
    expect(budget.take(1)).toBe(false)
  })

  test('a whole one holds what it took until it is let go, and is read even then', async () => {
    const budget = createByteBudget(100 * KB)
    let letGo = () => {}
    const read = readAtMost(bodyOf(60 * KB, KB), 256 * KB, budget, (bytes) => {
      expect(isNumbers(bytes, 60 * KB)).toBe(true)
      return new Promise((resolve) => {
        letGo = resolve
      })
    })
    await settled()
    expect(budget.take(60 * KB)).toBe(false)
    letGo()
    expect(isNumbers(await read, 60 * KB)).toBe(true)
    expect(budget.take(100 * KB)).toBe(true)
  })

  test('a body that breaks off gives back what it held', async () => {
    const budget = createByteBudget(100 * KB)
    const broken = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(60 * KB))
      },
      pull(controller) {
        controller.error(new Error('cut'))
      },
    })
    await expect(readAtMost(broken, 256 * KB, budget)).rejects.toThrow('cut')
    expect(budget.take(100 * KB)).toBe(true)
  })
})
