import { expect, test } from 'vitest'
import { qrPng } from '#src/lib/png.ts'
import { modulesOf, readPng } from '#test/support/png.ts'
import { decode } from '#test/support/qr-decoder.ts'

test.each([
  'https://sub.example.test/sub/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo',
  'https://subscriptions.some-long-name.example.test/sub/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo',
  'short',
])('a picture reads as the text it was made of, with its quiet zone: %s', (text) => {
  const bytes = qrPng(text)
  expect(bytes.length).toBeLessThan(2000)
  const modules = modulesOf(readPng(bytes), 8)
  expect(decode(modules)).toBe(text)
  const size = modules.length
  for (const [y, row] of modules.entries()) {
    for (const [x, dark] of row.entries()) {
      if (Math.min(x, y, size - 1 - x, size - 1 - y) < 4) expect(dark).toBe(false)
    }
  }
})

test('a text that no code holds throws', () => {
  expect(() => qrPng('x'.repeat(5000))).toThrow()
})
