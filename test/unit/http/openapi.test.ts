import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { componentSchemas, queryConverter, schemaConverter } from '#src/http/openapi/json-schema.ts'
import { integer, line, queryInteger, secretText, timestamp } from '#src/lib/values.ts'

const convert = schemaConverter({})

const ROOT = join(import.meta.dirname, '../../..')

/** A file of the project and all that is loaded with it. */
function loadedWith(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, target = ''] of text.matchAll(/^(?:import (?!type)|\} )[^'\n]*'([#.][^']+)'/gm)) {
    const path = target.startsWith('#') ? join(ROOT, target.slice(1)) : join(dirname(file), target)
    loadedWith(path, seen)
  }
  return seen
}

test('the description of the API is not loaded before it is asked for', () => {
  const loaded = [...loadedWith(join(ROOT, 'src/main.ts'))]
  expect(loaded.length).toBeGreaterThan(100)
  expect(loaded).toContain(join(ROOT, 'src/http/description.ts'))
  expect(loaded).toContain(join(ROOT, 'src/http/operation.ts'))
  expect(loaded.filter((file) => /http\/openapi/.test(file))).toEqual([])
  const converter = loaded.filter((file) => readFileSync(file, 'utf8').includes('to-json-schema'))
  expect(converter).toEqual([])
})

describe('schemas in words of JSON Schema', () => {
  const TABLE: [name: string, schema: v.GenericSchema, words: object][] = [
    ['a number', integer(1, 9), { type: 'integer', minimum: 1, maximum: 9 }],
    [
      'a pattern with \\p',
      v.pipe(v.string(), v.regex(/^\p{L}$/u)),
      { type: 'string', pattern: '^\\p{L}$' },
    ],
    [
      'a time that exists',
      timestamp,
      { pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$` },
    ],
    ['one line', line(5), { maxLength: 5, pattern: String.raw`^[^\p{Cc}\p{Cs}\u2028\u2029]*$` }],
    ['two patterns', secretText(9), { minLength: 1, allOf: [{ pattern: '^[\\x21-\\x7e]+$' }] }],
    ['a default', v.optional(v.picklist(['a', 'b']), 'b'), { enum: ['a', 'b'], default: 'b' }],
    [
      'nothing but these keys',
      v.strictObject({ a: v.nullable(v.boolean()) }),
      { required: ['a'], additionalProperties: false },
    ],
  ]

  test.each(TABLE)('say %s', (_name, schema, words) => {
    expect(convert(schema)).toMatchObject(words)
  })

  test.each([
    [
      'a rule of our own',
      v.pipe(
        v.string(),
        v.check((text) => text !== 'x', 'must not be x'),
      ),
    ],
    ['a pattern with a flag', v.pipe(v.string(), v.regex(/x/i))],
    ['a date', v.date()],
  ])('are refused for %s, which they can not say', (_name, schema) => {
    expect(() => convert(schema)).toThrow()
  })

  test('of a query say the number that its text is read as', () => {
    const query = queryConverter(convert)
    const number = { type: 'integer', minimum: 1, maximum: 400 }
    expect(query(queryInteger(1, 400))).toEqual(number)
    expect(query(v.optional(queryInteger(1, 400)))).toEqual(number)
    expect(query(v.optional(queryInteger(1, 400), '30'))).toEqual({ ...number, default: 30 })
    expect(query(v.optional(v.string()))).toEqual({ type: 'string' })
  })

  test('refer to the records that have a name', () => {
    const inner = v.strictObject({ a: v.string() })
    const outer = v.array(inner)
    const ref = { $ref: '#/components/schemas/Inner' }
    expect(schemaConverter({ Inner: inner })(outer)).toEqual({ type: 'array', items: ref })
    expect(componentSchemas({ Inner: inner, Outer: outer }).Outer).toMatchObject({ items: ref })
  })
})
