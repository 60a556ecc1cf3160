import { expect, test } from 'vitest'
import { TextMap, TextSet } from '#src/lib/text-map.ts'

test('a TextMap has the last value of each text, in the order in which they came', () => {
  const map = new TextMap<number>()
  map.set('b', 1)
  map.set('a', 2)
  map.set('b', 3)
  expect([map.size, map.get('b'), map.get('c'), [...map]]).toEqual([
    ...[2, 3, undefined],
    [
      ['b', 3],
      ['a', 2],
    ],
  ])
  map.delete('b')
  expect([...map]).toEqual([['a', 2]])
  map.clear()
  expect(map.size).toBe(0)
})

test('a TextSet has each text once', () => {
  const set = new TextSet(['a', 'b', 'a'])
  expect([set.size, set.has('a'), set.has('c'), [...set]]).toEqual([2, true, false, ['a', 'b']])
})
