/** Valibot schemas as JSON Schema 2020-12, which OpenAPI 3.1 speaks. What can't be said stops the build of the document. */
import {
  type ConversionConfig,
  type JsonSchema,
  toJsonSchema,
  toJsonSchemaDefs,
} from '@valibot/to-json-schema'
import type * as v from 'valibot'

export type { JsonSchema }

type Pipe = readonly { kind: string; type: string }[]

/** Rules that JSON Schema has no words for, or that a `v.metadata` beside them states; by their message. */
const UNSAID = new Set([
  'must be a time that exists',
  'must be a first and a last port, as 20000-30000',
  'must be an object of prices by plan code',
  'has an unknown plan',
  'must be a host name',
  'must be a host name or an IP address',
  'must be an SSH public key',
  'must be a certificate as PEM',
  'must have different ids',
  'must have each tag once',
  'must have each format once',
  'must be an https address',
  'is too easy to guess',
])

const isUnsaid = (message: unknown) =>
  typeof message === 'string' &&
  (UNSAID.has(message) || message.startsWith('must be whole numbers'))

/** Patterns of JSON Schema are those of ECMA-262 with the flag u; another flag would change what they match. */
const isPlain = ({ flags }: RegExp) => flags === '' || flags === 'u'

/** A further pattern beside the first. */
const withPattern = (schema: JsonSchema, pattern: string): JsonSchema =>
  schema.pattern === undefined
    ? { ...schema, pattern }
    : { ...schema, allOf: [...(schema.allOf ?? []), { pattern }] }

const refTo = (name: string) => `#/components/schemas/${name}`

const config: ConversionConfig = {
  target: 'draft-2020-12',
  typeMode: 'input',
  // Lengths and patterns behind it are stated of the text as it is sent.
  ignoreActions: ['trim', 'normalize'],
  overrideAction({ valibotAction, jsonSchema }) {
    const action = valibotAction as { type: string; message?: unknown; requirement?: unknown }
    if (action.type === 'check' && isUnsaid(action.message)) return jsonSchema
    // Its own pattern may be there already: the converter sets it before it asks.
    if (action.type === 'regex' && action.requirement instanceof RegExp) {
      const { requirement } = action
      if (!isPlain(requirement)) return null
      const { source } = requirement
      return jsonSchema.pattern === source ? jsonSchema : withPattern(jsonSchema, source)
    }
    return null
  },
  overrideRef: ({ referenceId }) => refTo(referenceId),
}

/** Named schemas, which refer to each other. */
export function componentSchemas(definitions: Record<string, v.GenericSchema>) {
  return toJsonSchemaDefs(definitions, config) as Record<string, JsonSchema>
}

/** A converter that refers to `definitions` where it meets one of them. */
export function schemaConverter(definitions: Record<string, v.GenericSchema>) {
  const names = new Map<object, string>(
    Object.entries(definitions).map(([name, schema]) => [schema, name]),
  )
  // Not `definitions` of the converter, which would convert all of them each time.
  const overrideSchema: ConversionConfig['overrideSchema'] = ({ valibotSchema }) => {
    const name = names.get(valibotSchema)
    return name === undefined ? null : { $ref: refTo(name) }
  }
  return (schema: v.GenericSchema): JsonSchema => {
    const { $schema, ...converted } = toJsonSchema(schema, { ...config, overrideSchema })
    return converted
  }
}

const pipeOf = (schema: object): Pipe => ('pipe' in schema ? (schema.pipe as Pipe) : [])

/** The schema of a query parameter: where its text is read as a number, that number's. */
export function queryConverter(convert: (schema: v.GenericSchema) => JsonSchema) {
  return (entry: v.GenericSchema): JsonSchema => {
    const { wrapped = entry, default: fallback } = entry as { wrapped?: object; default?: unknown }
    const pipe = pipeOf(wrapped)
    const isNumber = pipe.some(
      (step) => step.type === 'transform' && (step as { operation?: unknown }).operation === Number,
    )
    if (!isNumber) return convert(entry)
    const limitOf = (type: string) =>
      (pipe.find((step) => step.type === type) as { requirement?: number } | undefined)?.requirement
    return {
      type: 'integer',
      minimum: limitOf('min_value') as number,
      maximum: limitOf('max_value') as number,
      ...(fallback === undefined ? {} : { default: Number(fallback) }),
    }
  }
}
