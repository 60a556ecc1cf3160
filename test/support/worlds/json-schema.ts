/** The part of JSON Schema 2020-12 that the description of the API speaks. A word it does not know is an error, never passed over. */

export interface JsonSchema {
  [keyword: string]: unknown
}

/** Says what is wrong with a value, or null. */
export type Check = (value: unknown) => string | null

type Compile = (schema: JsonSchema) => Check
// biome-ignore lint/suspicious/noExplicitAny: the type of a keyword's value follows from its name
type Keyword = (given: any, compile: Compile, schema: JsonSchema) => Check

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const TYPES: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isObject,
}

const unless = (holds: (value: never) => boolean, fault: string): Check => {
  return (value) => (holds(value as never) ? null : fault)
}

/** A rule for numbers, strings or lists; other values keep to it. */
const bound =
  (
    of: (value: unknown) => number | null,
    name: string,
    holds: (n: number, limit: number) => boolean,
  ) =>
  (limit: number): Check => {
    return (value) => {
      const n = of(value)
      return n === null || holds(n, limit) ? null : `: ${name} is ${limit}`
    }
  }

const numberOf = (value: unknown) => (typeof value === 'number' ? value : null)
const lengthOf = (value: unknown) => (typeof value === 'string' ? [...value].length : null)
const itemsOf = (value: unknown) => (Array.isArray(value) ? value.length : null)
const sizeOf = (value: unknown) => (isObject(value) ? Object.keys(value).length : null)
const atLeast = (n: number, limit: number) => n >= limit
const atMost = (n: number, limit: number) => n <= limit

function first(checks: Check[]): Check {
  return (value) => {
    for (const check of checks) {
      const fault = check(value)
      if (fault !== null) return fault
    }
    return null
  }
}

const annotation: Keyword = () => () => null

const KEYWORDS: Record<string, Keyword> = {
  description: annotation,
  default: annotation,
  examples: annotation,
  contentMediaType: annotation,
  type: (name: string) => unless(TYPES[name] as () => boolean, `: is no ${name}`),
  const: (wanted) => unless((value) => value === wanted, `: is not ${wanted}`),
  enum: (allowed: unknown[]) =>
    unless((value) => allowed.includes(value), `: is none of ${allowed}`),
  minimum: bound(numberOf, 'minimum', atLeast),
  maximum: bound(numberOf, 'maximum', atMost),
  minLength: bound(lengthOf, 'minLength', atLeast),
  maxLength: bound(lengthOf, 'maxLength', atMost),
  minItems: bound(itemsOf, 'minItems', atLeast),
  maxItems: bound(itemsOf, 'maxItems', atMost),
  minProperties: bound(sizeOf, 'minProperties', atLeast),
  pattern(source: string) {
    const pattern = new RegExp(source, 'u')
    return (value) =>
      typeof value !== 'string' || pattern.test(value) ? null : `: does not match ${source}`
  },
  items(schema: JsonSchema, compile) {
    const check = compile(schema)
    return (value) => {
      if (!Array.isArray(value)) return null
      for (const [at, item] of value.entries()) {
        const fault = check(item)
        if (fault !== null) return `/${at}${fault}`
      }
      return null
    }
  },
  required: (names: string[]) => (value) => {
    if (!isObject(value)) return null
    const missing = names.find((name) => !Object.hasOwn(value, name))
    return missing === undefined ? null : `: lacks ${missing}`
  },
  properties(schemas: Record<string, JsonSchema>, compile) {
    const checks = Object.entries(schemas).map(([name, schema]) => [name, compile(schema)] as const)
    return (value) => {
      if (!isObject(value)) return null
      for (const [name, check] of checks) {
        const fault = Object.hasOwn(value, name) ? check(value[name]) : null
        if (fault !== null) return `/${name}${fault}`
      }
      return null
    }
  },
  additionalProperties(given: false | JsonSchema, compile, schema) {
    const known = new Set(Object.keys(schema.properties ?? {}))
    const check = given === false ? () => ': is not described' : compile(given)
    return (value) => {
      if (!isObject(value)) return null
      for (const [name, field] of Object.entries(value)) {
        const fault = known.has(name) ? null : check(field)
        if (fault !== null) return `/${name}${fault}`
      }
      return null
    }
  },
  propertyNames(schema: JsonSchema, compile) {
    const check = compile(schema)
    return (value) =>
      isObject(value)
        ? (Object.keys(value)
            .map(check)
            .find((fault) => fault !== null) ?? null)
        : null
  },
  uniqueItems: () =>
    unless(
      (value: unknown) => !Array.isArray(value) || new Set(value).size === value.length,
      ': has one twice',
    ),
  not(schema: JsonSchema, compile) {
    const check = compile(schema)
    return (value) => (check(value) === null ? ': is what it must not be' : null)
  },
  allOf: (schemas: JsonSchema[], compile) => first(schemas.map(compile)),
  anyOf(schemas: JsonSchema[], compile) {
    const checks = schemas.map(compile)
    return (value) => {
      const faults = checks.map((check) => check(value))
      return faults.includes(null) ? null : `: none of (${faults.join(' | ')})`
    }
  },
  oneOf(schemas: JsonSchema[], compile) {
    const checks = schemas.map(compile)
    return (value) => {
      const faults = checks.map((check) => check(value))
      const fitting = faults.filter((fault) => fault === null).length
      return fitting === 1 ? null : `: fits ${fitting} of (${faults.join(' | ')})`
    }
  },
}

/** A compiler for the schemas of one document; references are resolved in `root`, once each. */
export function schemaCompiler(root: unknown): Compile {
  const referenced = new Map<string, Check>()
  const resolve = (ref: string): Check => {
    const known = referenced.get(ref)
    if (known) return known
    const schema = ref
      .slice(2)
      .split('/')
      .reduce((at, name) => (at as Record<string, unknown> | undefined)?.[name], root)
    if (schema === undefined) throw new Error(`nothing at ${ref}`)
    const check = compile(schema as JsonSchema)
    referenced.set(ref, check)
    return check
  }
  const compile: Compile = (schema) =>
    first(
      Object.entries(schema).map(([name, given]) => {
        if (name === '$ref') return resolve(given as string)
        const keyword = KEYWORDS[name]
        if (!keyword) throw new Error(`unknown keyword ${name}`)
        return keyword(given, compile, schema)
      }),
    )
  return compile
}
