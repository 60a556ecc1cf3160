/** The description of the API (OpenAPI 3.1), built from the schemas that requests are checked by. Loaded when it is first asked for. */
import type * as v from 'valibot'
import type { Config } from '#src/config.ts'
import { VERSION } from '#src/lib/version.ts'
import { REFUSAL_CODES } from '#src/refusals/index.ts'
import { type Answer, isPage, type Media } from './answers.ts'
import { ADMIN_API } from './auth.ts'
import { components } from './openapi/components.ts'
import {
  componentSchemas,
  type JsonSchema,
  queryConverter,
  schemaConverter,
} from './openapi/json-schema.ts'
import type { Operation, RefusalStatus } from './operation.ts'
import { listOperations } from './operations.ts'

type Settings = Pick<Config, 'adminPath' | 'publicScheme' | 'domains' | 'gateways' | 'settings'>

const DESCRIPTION = `What the panel, scripts and client apps may ask of this service.

Errors are \`{"error": "message"}\` with the matching status; \`X-Error-Code\` says which, for programs. Timestamps are UTC without an offset. Lists that grow are paged: take
the address in \`Link\` until there is none.`

const convert = schemaConverter(components)
const convertQuery = queryConverter(convert)

const REFUSALS: Record<RefusalStatus, [name: string, meaning: string]> = {
  400: ['BadRequest', 'The request is wrong; the message says what about it'],
  401: ['Unauthorized', 'No session, or a wrong secret or signature'],
  403: [
    'Forbidden',
    "Another site's page sent this; or you are to confirm that it is you (`code` says so), or to set up two-factor login first",
  ],
  404: ['NotFound', 'Unknown'],
  413: [
    'TooLarge',
    'The body is larger than 64 KB, a notice or a template of lists larger than 256 KB',
  ],
  429: ['TooMany', 'Too many attempts'],
  503: [
    'Unavailable',
    'The database is busy or the disk is full, and nothing was done; a list takes too long to read; or a provider gives no answer',
  ],
}

const retryAfter = {
  description: 'Seconds to wait',
  required: true,
  schema: { type: 'integer', minimum: 1 },
}

const errorHeaders = {
  'X-Error-Code': {
    description: 'Which refusal it is; the message may change, this does not',
    required: true,
    schema: { $ref: '#/components/schemas/ErrorCode' },
  },
  'X-Error-Values': {
    description: 'What the message has of this request, as a query: `field` is what it is about',
    required: false,
    schema: { type: 'string' },
  },
}

const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }

interface Refusal {
  description: string
  headers: Record<string, object>
  content: Record<string, { schema: object }>
}

/** Every refusal, for a program and for a reader. */
function refusalResponses(): Record<string, Refusal> {
  const entries = Object.entries(REFUSALS).flatMap(([status, [name, description]]) => {
    const waiting = status === '429' || status === '503'
    const headers = { ...errorHeaders, ...(waiting && { 'Retry-After': retryAfter }) }
    const response = { description, headers }
    const pageContent = { ...errorContent, 'text/html': { schema: { type: 'string' } } }
    return [
      [name, { ...response, content: errorContent }],
      [`${name}Page`, { ...response, content: pageContent }],
    ]
  })
  return Object.fromEntries(entries)
}

const mediaSchema = (schema: Media[string]): JsonSchema | Record<string, never> => {
  if (schema === 'text') return { type: 'string' }
  return schema === 'bytes' ? {} : convert(schema)
}

const contentOf = (media: Media) =>
  Object.fromEntries(
    Object.entries(media).map(([type, schema]) => [type, { schema: mediaSchema(schema) }]),
  )

const statusOf = (ok: v.GenericSchema | Answer) => ('media' in ok ? ok.status : undefined) ?? 200

function success(ok: v.GenericSchema | Answer) {
  const { media, headers = {} }: Answer = 'media' in ok ? ok : { media: { 'application/json': ok } }
  const notes = Object.entries(headers).map(([name, { summary, schema, always }]) => [
    name,
    { description: summary, required: always, schema: convert(schema) },
  ])
  return {
    description: 'Done',
    ...(notes.length > 0 && { headers: Object.fromEntries(notes) }),
    ...(Object.keys(media).length > 0 && { content: contentOf(media) }),
  }
}

/** The statuses of an operation that are refusals: its own, and those that follow from what it takes. */
function refusalsOf(operation: Operation): RefusalStatus[] {
  const { method, open, body, lenient, query, params, refusals = [] } = operation
  const statuses = new Set(refusals)
  const isAdmin = operation.path.startsWith(`${ADMIN_API}/`)
  if (isAdmin && !open) statuses.add(401)
  if (isAdmin && (!open || method !== 'get')) statuses.add(403)
  // Pages take whatever a query says.
  if ((body && !lenient) || (query && !isPage(operation.ok))) statuses.add(400)
  if (body && body !== 'archive') statuses.add(413)
  if (params) statuses.add(404)
  statuses.add(503)
  return [...statuses].sort()
}

const parametersIn = (
  place: 'path' | 'query' | 'header',
  entries: Record<string, v.GenericSchema> = {},
) =>
  Object.entries(entries).map(([name, schema]) => ({
    name,
    in: place,
    required: place === 'path',
    schema: place === 'query' ? convertQuery(schema) : convert(schema),
  }))

function requestBody({ body, bodyOptional, changes }: Operation) {
  if (!body) return {}
  const form: JsonSchema = {
    type: 'object',
    properties: {
      file: { contentMediaType: 'application/octet-stream' },
      passphrase: { type: 'string' },
    },
    required: ['file'],
  }
  const content =
    body === 'archive'
      ? { 'multipart/form-data': { schema: form } }
      : {
          'application/json': {
            schema: { ...convert(body), ...(changes && { minProperties: 1 }) },
          },
        }
  return { requestBody: { required: !bodyOptional, content } }
}

function describe(operation: Operation) {
  const { tag, summary, open, params, query, headers } = operation
  const parameters = [
    ...parametersIn('path', params),
    ...parametersIn('query', query?.entries as Record<string, v.GenericSchema> | undefined),
    ...parametersIn('header', headers),
  ]
  const refusal = (status: RefusalStatus) =>
    `#/components/responses/${REFUSALS[status][0]}${isPage(operation.ok) ? 'Page' : ''}`
  return {
    tags: [tag],
    summary,
    operationId: operationId(operation),
    ...(!open && { security: [{ session: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(operation),
    responses: {
      [statusOf(operation.ok)]: success(operation.ok),
      ...Object.fromEntries(
        refusalsOf(operation).map((status) => [status, { $ref: refusal(status) }]),
      ),
    },
  }
}

/** A name that no other operation has: `post_users_tg_id_grant`. */
function operationId({ method, path }: Operation): string {
  const words = path.replace(ADMIN_API, '').match(/[A-Za-z0-9]+/g) ?? ['root']
  const trailing = path.length > 1 && path.endsWith('/') ? '_' : ''
  return `${[method, ...words].join('_').toLowerCase()}${trailing}`
}

function describePaths(operations: Operation[]) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const methods = paths[operation.path] ?? {}
    methods[operation.method] = describe(operation)
    paths[operation.path] = methods
  }
  return paths
}

/** The document of a service with these settings. */
export function createDocument(config: Settings) {
  const { publicScheme, domains, gateways } = config
  const operations = listOperations(config)
  return {
    openapi: '3.1.0',
    info: { title: 'Subpanel', version: VERSION, description: DESCRIPTION },
    servers: [{ url: `${publicScheme}://${domains.panel}` }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: describePaths(operations),
    components: {
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'panel_admin' } },
      responses: refusalResponses(),
      schemas: {
        ...componentSchemas(components),
        ProviderId: { type: 'string', enum: gateways.map(({ id }) => id) },
        ErrorCode: { type: 'string', enum: REFUSAL_CODES },
      },
    },
  }
}
