import { expect, test } from 'vitest'
import { outdatedCopies, safetyCopyName } from '#src/domain/installation/safety-copies.ts'

const NOW = new Date('2026-03-20T12:00:00Z')
const DAY_MS = 86_400_000

/** Copies of these ages in days, of one byte each unless told. */
const aged = (...ages: (number | [days: number, bytes: number])[]) =>
  ages.map((age) => {
    const [days, bytes] = typeof age === 'number' ? [age, 1] : age
    return { name: safetyCopyName(new Date(NOW.getTime() - days * DAY_MS), 1), bytes }
  })

const outdatedOf = (ages: Parameters<typeof aged>, maxBytes = 100) => {
  const copies = aged(...ages)
  const outdated = outdatedCopies(copies, NOW, maxBytes)
  return outdated.map((name) => copies.findIndex((copy) => copy.name === name))
}

test.each<[name: string, ages: Parameters<typeof aged>, maxBytes: number, outdated: number[]]>([
  ['five old ones stay', [10, 20, 30, 40, 50], 100, []],
  ['a sixth old one goes', [10, 60, 20, 30, 40, 50], 100, [1]],
  ['all of the last 7 days stay', [0, 1, 2, 3, 4, 5, 6, 6.9], 100, []],
  ['old ones go beside five young ones', [0, 1, 2, 3, 4, 8], 100, [5]],
  ['old ones stay as far as five are kept', [0, 1, 2, 8, 9, 10], 100, [5]],
  ['old ones go for want of room', [0, 1, [8, 50], [9, 60], 10], 100, [3]],
  [
    'the newest two stay, whatever they take',
    [
      [0, 500],
      [1, 500],
    ],
    100,
    [],
  ],
  ['an old one goes beside two that take all', [[0, 500], [1, 500], 8], 100, [2]],
  ['one that fits exactly stays', [[0, 50], [1, 49], 2], 100, []],
  ['one that is just a week old may go', [[0, 50], [1, 50], 7], 100, [2]],
])('%s', (_name, ages, maxBytes, outdated) => {
  expect(outdatedOf(ages, maxBytes)).toEqual(outdated)
})

test('a young one that would have to go is a refusal', () => {
  expect(() => outdatedOf([[0, 50], [1, 50], 2])).toThrow(/SNAPSHOT_MAX_MB/)
})

test('of one second the highest number is the newest', () => {
  const at = new Date(NOW.getTime() - 30 * DAY_MS)
  const copies = Array.from({ length: 12 }, (_, i) => ({
    name: safetyCopyName(at, i + 1),
    bytes: 1,
  }))
  expect(outdatedCopies(copies, NOW, 100)).toEqual(
    [7, 6, 5, 4, 3, 2, 1].map((number) => safetyCopyName(at, number)),
  )
})
