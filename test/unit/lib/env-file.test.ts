import { describe, expect, test } from 'vitest'
import { listEnvLines, parseEnvFile, setEnvLine } from '#src/lib/env-file.ts'

describe('parseEnvFile', () => {
  test.each<[name: string, text: string, values: Record<string, string>]>([
    ['nothing', '', {}],
    ['a line', 'A=1', { A: '1' }],
    ['lines of every system', 'A=1\nB=2\r\nC=3\n', { A: '1', B: '2', C: '3' }],
    ['spaces around', '  A  =  x y  \n', { A: 'x y' }],
    ['export', 'export A=1', { A: '1' }],
    ['comments and empty lines', '# A=1\n\n   # B=2\nC=3', { C: '3' }],
    ['a hash in a value', 'A=a#b #c', { A: 'a#b #c' }],
    ['an equals sign in a value', 'A=b=c==', { A: 'b=c==' }],
    ['an empty value', 'A=\nB=""', { A: '', B: '' }],
    ['double quotes', 'A=" x "', { A: ' x ' }],
    ['single quotes', "A=' x '", { A: ' x ' }],
    ['quotes of two kinds', `A="x'`, { A: `"x'` }],
    ['one quote alone', 'A="', { A: '"' }],
    ['quotes inside', 'A=x"y"z', { A: 'x"y"z' }],
    ['no escapes and no other variables', 'A="\\n$B"', { A: '\\n$B' }],
    ['no value with a line break inside', 'A=1\rB=2\nC=3', { C: '3' }],
    ['the later of two lines', 'A=1\nA=2', { A: '2' }],
    [
      'no value with a line separator inside',
      'A=1\u2028B=2\nC=3\u2029\n\u2028D = \u20284',
      { C: '3', D: '4' },
    ],
    ['names that are none', '1A=1\nA-B=1\n=1\nA B=1\nA', {}],
    ['letters of any alphabet in values', 'A=Бренд 💩', { A: 'Бренд 💩' }],
  ])('reads %s', (_name, text, values) => {
    expect(parseEnvFile(text)).toEqual(values)
  })

  test('a key of every object is a key like others', () => {
    const values = parseEnvFile('__proto__=x\nconstructor=y')
    expect(values.constructor).toBe('y')
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })
})

const SPACES = ' '.repeat(240_000)

test.each([
  ['before a line separator', `A=${SPACES}b\u2028c`, ['A', null]],
  ['inside a value', `A=b${SPACES}c`, ['A', `b${SPACES}c`]],
  ['behind a key', `A${SPACES}=b`, ['A', 'b']],
  ['where a key ends nowhere', `export${SPACES}A${SPACES}B=`, null],
  ['in front', `${SPACES}export${SPACES}A=b`, ['A', 'b']],
])('a line of 240,000 spaces %s is read at once', (_name, line, found) => {
  const startedAt = performance.now()
  expect(listEnvLines(line)).toEqual(found ? [found] : [])
  expect(performance.now() - startedAt).toBeLessThan(500)
})

describe('setEnvLine', () => {
  test.each([
    ['', 'A=1\n'],
    ['B=2', 'B=2\nA=1\n'],
    ['B=2\n', 'B=2\nA=1\n'],
    ['B=2\n\n\n', 'B=2\nA=1\n'],
    ['A=0\nB=2\n', 'A=1\nB=2\n'],
    ['# note\n export A = "0"\n', '# note\nA=1\n'],
    ['# A=0\n', '# A=0\nA=1\n'],
    ['AA=0\n', 'AA=0\nA=1\n'],
    ['A=8\nB=2\nexport A=9\nB=3\n', 'B=2\nA=1\nB=3\n'],
  ])('in %j gives %j', (text, wanted) => {
    expect(setEnvLine(text, 'A', '1')).toBe(wanted)
  })

  test('a value is read back as it was, whatever spaces and quotes it has', () => {
    for (const value of [
      '',
      'x',
      ' x ',
      '"x"',
      "'x'",
      '"',
      "'",
      '"x',
      'x"',
      '\tx',
      'a "b" c',
      '# x',
    ]) {
      expect(parseEnvFile(setEnvLine('B=2\n', 'A', value)).A).toBe(value)
    }
  })

  test('counts afterwards, also where the key stands twice', () => {
    for (const text of ['', 'A=0', 'A=8\nB=2\nA=9\n', 'B=2\n']) {
      expect(parseEnvFile(setEnvLine(text, 'A', '1')).A, text).toBe('1')
    }
  })
})
