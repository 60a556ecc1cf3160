import { expect, test } from 'vitest'
import { csvCell, csvResponse } from '#src/http/csv.ts'

test.each([
  [null, ''],
  [0, '0'],
  [-1, '-1'],
  ['', ''],
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['"', '""""'],
  ['=1', "'=1"],
  ['-1', "'-1"],
  ['\r=1', `"'\r'=1"`],
  ['\t1', "'\t1"],
  ['\r1', `"'\r1"`],
  ['＝1', "'＝1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠1', "'＠1"],
  ['  =1', "'  =1"],
  ['"=1"', `"'""=1"""`],
  [';=1', `";'=1"`],
  ['a; @SUM(1)', `"a;' @SUM(1)"`],
  ['a;"=1"', `"a;'""=1"""`],
  ['a;b', '"a;b"'],
  ['a\t=1', "a\t'=1"],
  ['a\n＝1', `"a\n'＝1"`],
  ['1+1=2', '1+1=2'],
  ['a-b@c', 'a-b@c'],
])('the cell of %j is %j', (value, cell) => expect(csvCell(value)).toBe(cell))

test('a cell takes a time that grows as it does', () => {
  const size = 300_000
  expect(csvCell('\t'.repeat(size))).toHaveLength(2 * size)
  expect(csvCell(`${'"'.repeat(size)}=`)).toHaveLength(2 * size + 4)
  expect(csvCell(';"'.repeat(size))).toHaveLength(3 * size + 2)
}, 5000)

/** The cells of a line where `separator` is what a spreadsheet goes by: a quote counts at the beginning of a cell alone. */
function cellsBy(separator: string, line: string): string[] {
  const cells: string[] = []
  for (let at = 0; at <= line.length; ) {
    let cell = ''
    if (line[at] === '"') {
      for (at++; at < line.length && (line[at] !== '"' || line[at + 1] === '"'); at++) {
        if (line[at] === '"') at++
        cell += line[at]
      }
      at++
    }
    for (; at < line.length && line[at] !== separator && !'\r\n'.includes(line[at] as string); at++)
      cell += line[at]
    at++
    cells.push(cell)
  }
  return cells
}

test.each([',', ';', '\t'])(
  'whatever is in a note, no cell is a formula where %j separates',
  (separator) => {
    const bits = [
      '',
      '=1',
      '＝1',
      '-1',
      '@a',
      ';',
      ';=1',
      '\t',
      '\r',
      '\n',
      '"',
      "'",
      ' ',
      ',',
      'a',
    ]
    for (const a of bits) {
      for (const b of bits) {
        for (const c of bits) {
          const line = `7,${csvCell(a + b + c)},x`
          for (const cell of cellsBy(separator, line)) {
            expect(cell, JSON.stringify(line)).not.toMatch(/^[\s"]*[=+\-@＝＋－＠]/)
          }
        }
      }
    }
  },
)

test('a download begins with the mark of UTF-8 and reads no further than it is read', async () => {
  let reads = 0
  let ended = false
  async function* batches() {
    try {
      for (;;) yield [[++reads]]
    } finally {
      ended = true
    }
  }
  const response = await csvResponse('x.csv', ['a'], batches(), () => {})
  const reader = (response.body as ReadableStream).getReader()
  const first: Uint8Array = (await reader.read()).value
  expect([...first]).toEqual([0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a])
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('1\r\n')
  await reader.cancel()
  expect(reads).toBeLessThan(4)
  expect(ended).toBe(true)
})

test('a fault of the first batch is thrown, a later one breaks the download off without saying what it was', async () => {
  async function* failing(good: number) {
    for (let i = 0; i < good; i++) yield [[i]]
    throw new Error('near ")": syntax error')
  }
  const failed: unknown[] = []
  const fail = (error: unknown) => failed.push(error)
  await expect(csvResponse('x.csv', ['a'], failing(0), fail)).rejects.toThrow('syntax error')
  const response = await csvResponse('x.csv', ['a'], failing(2), fail)
  await expect(response.text()).rejects.toThrow('internal error')
  expect(failed).toHaveLength(1)
})
