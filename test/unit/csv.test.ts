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
  ['\r=1', `"'\r=1"`],
])('the cell of %j is %j', (value, cell) => expect(csvCell(value)).toBe(cell))

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
