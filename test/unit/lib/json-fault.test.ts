import { expect, test } from 'vitest'
import { jsonFault } from '#src/lib/json-fault.ts'

test.each([
  ['', 0],
  ['  ', 2],
  ['{', 1],
  ['[1, 2', 5],
  ['{"a": 1,}', 8],
  ['[1, 2, ]', 7],
  ['[1 2]', 3],
  ['{"a" 1}', 5],
  ['{a: 1}', 1],
  ["{'a': 1}", 1],
  ['{"a": 1} x', 9],
  ['{"a": 1}{}', 8],
  ['{"a": tru}', 6],
  ['{"a": TRUE}', 6],
  ['{"a": 01}', 7],
  ['{"a": "b\nc"}', 6],
  ['{"a": "\\x"}', 6],
  ['{"a": "\\u12"}', 6],
  ['[1}', 2],
  ['{"a": [}', 7],
  ['{1: 2}', 1],
  ['// no\n{}', 0],
  [']', 0],
  [',', 0],
])('%j stops at %i', (text, at) => {
  expect(() => JSON.parse(text)).toThrow()
  expect(jsonFault(text)).toBe(at)
})

test('a text that is cut anywhere stops where it was cut, or where its last word begins', () => {
  const whole = '{"a": [1, -2.5e+3, true, null, "b\\u00e9\\n"], "c": {}, "d": []}'
  for (let length = 0; length < whole.length; length++) {
    const text = whole.slice(0, length)
    const at = jsonFault(text)
    expect(at, text).toBeLessThanOrEqual(length)
    expect(text.slice(at), text).not.toMatch(/[\s{}[\],:]/)
  }
})

test('a megabyte of brackets takes no stack', () => {
  expect(jsonFault('['.repeat(1_000_000))).toBe(1_000_000)
})
