/** A schema of the description for reading: its type in a line, its fields below, those of others folded. */
import { useState } from 'preact/hooks'
import { common } from '#src/admin-ui/texts.ts'

/** What is shown of a JSON schema. */
export interface JsonSchema {
  $ref?: string
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema | boolean
  required?: string[]
  pattern?: string
  default?: unknown
  [limit: string]: unknown
}

/** The schemas with names. */
export type Schemas = Record<string, JsonSchema>

const nameOf = (ref: string) => ref.split('/').at(-1) ?? ref

const kindsOf = (schema: JsonSchema) => schema.anyOf ?? schema.oneOf

/** No limit but what numbers have by themselves. */
const limitOf = (value: unknown) =>
  typeof value === 'number' && Math.abs(value) !== Number.MAX_SAFE_INTEGER ? value : null

function rangeOf(schema: JsonSchema, least: string, most: string): string {
  const [from, to] = [limitOf(schema[least]), limitOf(schema[most])]
  if (from !== null && to !== null) return ` ${from}…${to}`
  if (from !== null) return ` ≥ ${from}`
  return to === null ? '' : ` ≤ ${to}`
}

const limitsOf = (schema: JsonSchema) =>
  [
    rangeOf(schema, 'minimum', 'maximum'),
    rangeOf(schema, 'minLength', 'maxLength'),
    rangeOf(schema, 'minItems', 'maxItems'),
    schema.pattern === undefined ? '' : ` /${schema.pattern}/`,
    schema.default === undefined ? '' : ` = ${JSON.stringify(schema.default)}`,
  ].join('')

function mapText({ additionalProperties: values }: JsonSchema): string {
  return typeof values === 'object' && values.type ? `{ …: ${typeText(values)} }` : 'object'
}

/** `integer 1…65535`, `Subscription[]`, `"on" | "off"` */
export function typeText(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const kinds = kindsOf(schema)
  if (kinds) return kinds.map(typeText).join(' | ')
  if (schema.type === 'array') {
    const items = typeText(schema.items ?? {})
    return `${items.includes(' ') ? `(${items})` : items}[]${limitsOf(schema)}`
  }
  if (schema.type === 'object') return schema.properties ? 'object' : mapText(schema)
  return `${schema.type ?? 'any'}${limitsOf(schema)}`
}

interface Shape {
  /** Where it has one of its own. */
  name: string | null
  schema: JsonSchema
}

/** The objects with fields that a value of this schema is, or consists of. */
export function shapesOf(schema: JsonSchema, schemas: Schemas): Shape[] {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref)
    return shapesOf(schemas[name] ?? {}, schemas).map((shape) => ({ ...shape, name }))
  }
  const parts = [...(kindsOf(schema) ?? []), ...(schema.items ? [schema.items] : [])]
  if (parts.length > 0) return parts.flatMap((part) => shapesOf(part, schemas))
  return schema.properties ? [{ name: null, schema }] : []
}

function Fields({ schema, schemas }: { schema: JsonSchema; schemas: Schemas }) {
  return (
    <ul class="api-fields">
      {Object.entries(schema.properties ?? {}).map(([name, field]) => (
        <li key={name}>
          <code class="mono">{name}</code>{' '}
          <span class="muted break">
            {typeText(field)}
            {!schema.required?.includes(name) && `, ${common().optional}`}
          </span>
          <Shapes schema={field} schemas={schemas} />
        </li>
      ))}
    </ul>
  )
}

/** Drawn when it is opened: a record may hold records. */
function Folded({ shape, schemas }: { shape: Shape; schemas: Schemas }) {
  const [open, setOpen] = useState(false)
  return (
    <details class="api-shape" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="mono">{shape.name ?? 'object'}</summary>
      {open && <Fields schema={shape.schema} schemas={schemas} />}
    </details>
  )
}

const Shapes = ({ schema, schemas }: { schema: JsonSchema; schemas: Schemas }) => (
  <>
    {shapesOf(schema, schemas).map((shape, at) => (
      <Folded key={at} shape={shape} schemas={schemas} />
    ))}
  </>
)

/** Fields of its own at once, those of what it refers to folded. */
export function Schema(p: { schema: JsonSchema; schemas: Schemas }) {
  const { schema, schemas } = p
  if (schema.properties) {
    return (
      <div class="api-schema">
        <Fields schema={schema} schemas={schemas} />
      </div>
    )
  }
  return (
    <div class="api-schema">
      {schema.$ref === undefined && <p class="mono break">{typeText(schema)}</p>}
      <Shapes schema={schema} schemas={schemas} />
    </div>
  )
}
