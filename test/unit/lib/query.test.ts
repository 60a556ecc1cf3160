import { expect, test } from 'vitest'
import { parametersOf } from '#src/lib/query.ts'

const NAMES = ['lang', 'os', 'q', 'tg_id']
const read = (query: string) => {
  const parameter = parametersOf(query)
  return NAMES.map(parameter)
}
const asUrlsAreRead = (query: string) => {
  const all = new URLSearchParams(query)
  return NAMES.map((name) => all.get(name))
}

test.each([
  '',
  'lang=ru',
  'lang',
  'lang=',
  '=lang',
  'lang=ru&lang=en',
  'language=de&lang=ru',
  'xlang=de&lang=ru',
  'Lang=ru',
  'lang==ru',
  'os=a&lang=%D1%80%d1%83&q=a+b%2Bc',
  'lang=%ff&q=%zz&os=%&tg_id=%c3%28',
  '%6cang=ru',
  '%6C%61%6e%67=ru',
  '%6cang',
  'l%61ng%=ru',
  'lang%00=ru',
  'tg%5fid=-1&tg_id=2',
  'tg+id=1',
  'q=a=b&&&os=',
  '%c3&%ff&lang=ru',
])('%j is read as those of addresses are', (query) => {
  expect(read(query)).toEqual(asUrlsAreRead(query))
})

test('queries of all sorts are read as those of addresses are', () => {
  const pieces = [
    'lang',
    'os',
    'q',
    '=',
    '=',
    '&',
    '&',
    '%6c',
    '%',
    '%C3',
    '+',
    'ang',
    '#',
    'é',
    '?',
  ]
  let seed = 1
  const next = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return pieces[seed % pieces.length] as string
  }
  for (let n = 0; n < 5000; n++) {
    // URLSearchParams passes over a question mark that it begins with.
    const query = `a${Array.from({ length: 12 }, next).join('')}`
    expect(read(query), query).toEqual(asUrlsAreRead(query))
  }
})
