import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkLayers, type Layer, projectFiles } from '../../../scripts/lint/layers.ts'

const LAYERS: Layer[] = [
  { name: 'low', paths: ['src/low/'], may: ['node:'] },
  { name: 'high', paths: ['src/high/'], may: ['low', 'type side', '@scope/kept'] },
  { name: 'side', paths: ['src/side/', 'src/high/not.ts'], may: [] },
]
const SOUND = {
  'src/low/a.ts': "import { join } from 'node:path'",
  'src/high/b.ts':
    "import '#src/low/a.ts'\nimport type { S } from '#src/side/s.ts'\nimport '@scope/kept/part'",
  'src/side/s.ts': 'export type S = 1',
}
const faultsOf = (more: Record<string, string>) =>
  checkLayers(new Map(Object.entries({ ...SOUND, ...more })), LAYERS)

test('what the table allows is no fault', () => {
  expect(faultsOf({})).toEqual([])
})

test.each([
  ["import { b } from '#src/high/b.ts'", 'imports src/high/b.ts: low may not'],
  ["import type { b } from '#src/high/b.ts'", 'imports types of src/high/b.ts: low may not'],
  ["export { b } from '../high/b.ts'", 'imports src/high/b.ts: low may not'],
  ["const b = await import('#src/high/b.ts')", 'imports src/high/b.ts: low may not'],
  ["type B = import('#src/high/b.ts').B", 'imports types of src/high/b.ts: low may not'],
  ["import 'left-pad'", 'imports left-pad: low may not'],
  ["import '#test/support/worlds/world.ts'", 'imports test/support/worlds/world.ts: low may not'],
])('%s is a fault', (text, fault) => {
  expect(faultsOf({ 'src/low/c.ts': text })).toContain(`src/low/c.ts ${fault}`)
})

/** `#{…}` stands for a value in a template. */
const code = (text: string) => text.replaceAll('#', '$')

test.each([
  'sql`select 1 from users indexed by users_list`',
  'sql`select rowid from users`',
  'sql`#{a} cross join #{b}`',
  'sql`+#{column}`',
  'sql`min(#{column}, #{most})`',
  '`max(total(#{column}), 5)`',
  '`select cast(total(#{column}) as integer)`',
  'sql`#{column} is #{value}`',
  'sql`#{column} is not #{value}`',
  'sql`#{fence} + (#{owner} <> #{mine})`',
  '`select sum(n) as active from t group by day having active > 0`',
  '`select value from json_each(#{list})`',
])('%s is SQL of one engine', (said) => {
  const text = code(said)
  const layers = [{ name: 'all', paths: ['db/', 'src/'], may: [] }]
  const at = (path: string) => checkLayers(new Map([[path, `const a = ${text}`]]), layers)
  expect(at('db/a.ts')).toEqual([expect.stringContaining('db/a.ts writes SQL that only SQLite')])
  expect(at('db/engine/dialect.ts')).toEqual([])
})

test.each([
  'sql`min(case when #{a} then #{b} end)`',
  'sql`#{column} is not distinct from #{value}`',
  '`select sum(n) from t group by day having sum(n) > 0`',
  'Math.min(Math.max(a, b), c)',
  'db.total(a)',
  'integer(1, 5) // is.rowId',
])('%s is not', (said) => {
  const text = code(said)
  const layers = [{ name: 'all', paths: ['db/'], may: [] }]
  expect(checkLayers(new Map([['db/a.ts', `const a = ${text}`]]), layers)).toEqual([])
})

test('types of a layer are allowed without its values', () => {
  const text = "import { type S, s } from '#src/side/s.ts'"
  expect(faultsOf({ 'src/high/c.ts': text })).toEqual([
    'src/high/c.ts imports src/side/s.ts: high may not',
  ])
})

test('of what is only to be read a layer has readers and constants', () => {
  const layers: Layer[] = [
    { name: 'store', paths: ['src/store/'], may: [] },
    { name: 'page', paths: ['src/page/'], may: ['read store'] },
  ]
  const files = (text: string) =>
    new Map([
      ['src/store/a.ts', 'export const a = 1'],
      ['src/page/b.ts', text],
    ])
  const taken = "import { findUser, MOST_ROWS, type User } from '#src/store/a.ts'"
  expect(checkLayers(files(taken), layers)).toEqual([])
  const fault = ['src/page/b.ts imports src/store/a.ts: page may not']
  for (const name of ['insertUser', 'findUser, updateUser', '* as store', 'findout']) {
    const from = name.startsWith('*') ? `import ${name}` : `import { ${name} }`
    expect(checkLayers(files(`${taken}\n${from} from '#src/store/a.ts'`), layers)).toEqual(fault)
  }
})

test.each([
  ['await s.db.tx((tx) => insertUser(tx, user))', 'writes to the database'],
  ['await s.db.txVolatile(body)', 'writes to the database'],
  ['await s.db.q\n  .delete(users)', 'writes to the database'],
  ['s.fatal(error)', 'decides what a fault means, as src/lib/note-fault.ts does'],
])('%s is for those who may', (text, what) => {
  const faults = (path: string) => checkLayers(new Map([[path, text]]), [])
  expect(faults('src/http/a.ts')).toEqual([`src/http/a.ts ${what}: it may not`])
  expect(faults('test/a.ts')).toEqual([])
})

test('the longest path tells the layer of a file', () => {
  expect(faultsOf({ 'src/high/not.ts': "import '#src/low/a.ts'" })).toEqual([
    'src/high/not.ts imports src/low/a.ts: side may not',
  ])
})

test('a permission that nothing needs is a fault', () => {
  expect(faultsOf({ 'src/low/a.ts': '' })).toEqual([
    'the table lets low import node:, which nothing there does',
  ])
})

test('a circle is a fault, that of types alone too', () => {
  const circle = {
    'test/a.ts': "import type { B } from './b.ts'",
    'test/b.ts': "import { c } from './c.ts'",
    'test/c.ts': "export type { A } from './a.ts'",
  }
  expect(faultsOf(circle)).toEqual(['circle: test/a.ts -> test/b.ts -> test/c.ts -> test/a.ts'])
})

test('the program keeps to its plan', () => {
  expect(checkLayers(projectFiles(join(import.meta.dirname, '..', '..', '..')))).toEqual([])
})
