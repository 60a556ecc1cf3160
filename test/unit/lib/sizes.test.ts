import { expect, test } from 'vitest'
import { partTexts, sizeText } from '#src/lib/sizes.ts'

const MB = 1024 ** 2
const GB = 1024 ** 3

/** Spaces as they are typed. */
const plain = (text: string) => text.replace(/\s/g, ' ')

test.each([
  [0, '0 MB', '0 МБ'],
  [0.04 * MB, '0 MB', '0 МБ'],
  [512 * MB, '512 MB', '512 МБ'],
  [GB - 1, '1,024 MB', '1 024 МБ'],
  [GB, '1 GB', '1 ГБ'],
  [12.5 * GB, '12.5 GB', '12,5 ГБ'],
  [12.54 * GB, '12.5 GB', '12,5 ГБ'],
  [2048 * GB, '2,048 GB', '2 048 ГБ'],
])('%d bytes read %s and %s', (bytes, en, ru) => {
  expect([sizeText(bytes, 'en'), sizeText(bytes, 'ru')].map(plain)).toEqual([en, ru])
})

test.each([
  [0, 100 * GB, ['0', '100 GB']],
  [512 * MB, 100 * GB, ['512 MB', '100 GB']],
  [12.5 * GB, 100 * GB, ['12.5', '100 GB']],
  [105 * GB, 100 * GB, ['105', '100 GB']],
  [100 * MB, 512 * MB, ['100', '512 MB']],
  [2 * GB, 512 * MB, ['2 GB', '512 MB']],
])('%d of %d bytes say a unit once where it is the same', (part, whole, texts) => {
  expect(partTexts(part, whole, 'en').map(plain)).toEqual(texts)
})
