/** Holds every answer of a world against the description of the API. */
import type { Config } from '#src/config.ts'
import { createDocument } from '#src/http/openapi.ts'
import type { Answer } from './answer.ts'
import { type Check, type JsonSchema, schemaCompiler } from './json-schema.ts'

interface DescribedResponse {
  $ref?: string
  headers?: Record<string, { required: boolean; schema: JsonSchema }>
  /** None of an answer without a body. */
  content?: Record<string, { schema: JsonSchema }>
}

interface DescribedOperation {
  parameters?: { name: string; in: string; schema: JsonSchema }[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
  responses: Record<string, DescribedResponse>
}

interface Response {
  /** Media type -> what its body must be; null for what is no JSON. */
  bodies: Map<string, Check | null>
  headers: { name: string; required: boolean; check: Check }[]
}

interface Operation {
  /** What a JSON body must be; null where none is read. */
  body: Check | null
  query: { name: string; check: Check }[]
  responses: Map<number, Response>
}

interface Route {
  pattern: RegExp
  methods: Map<string, Operation>
}

/** The text of a header or a query as its schema sees it. */
const textValue = (text: string, schema: JsonSchema) =>
  schema.type === 'integer' ? Number(text) : text

function compileDocument(document: ReturnType<typeof createDocument>): Route[] {
  const compile = schemaCompiler(document)
  const responseOf = (described: DescribedResponse): Response => {
    const { headers = {}, content = {} } = described.$ref
      ? (document.components.responses[
          described.$ref.split('/').at(-1) as string
        ] as DescribedResponse)
      : described
    return {
      bodies: new Map(
        Object.entries(content).map(([type, { schema }]) => [
          type,
          type === 'application/json' ? compile(schema) : null,
        ]),
      ),
      headers: Object.entries(headers).map(([name, { required, schema }]) => {
        const check = compile(schema)
        return { name, required, check: (text) => check(textValue(String(text), schema)) }
      }),
    }
  }
  const operationOf = (described: DescribedOperation): Operation => {
    const { responses, requestBody, parameters = [] } = described
    const body = requestBody?.content['application/json']
    return {
      body: body ? compile(body.schema) : null,
      query: parameters
        .filter((one) => one.in === 'query')
        .map(({ name, schema }) => {
          const check = compile(schema)
          return { name, check: (text) => check(textValue(String(text), schema)) }
        }),
      responses: new Map(
        Object.entries(responses).map(([status, one]) => [Number(status), responseOf(one)]),
      ),
    }
  }
  const routes = Object.entries(document.paths).map(([path, methods]) => ({
    path,
    pattern: new RegExp(`^${path.replace(/[.~]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`),
    methods: new Map(
      Object.entries(methods).map(([method, one]) => [
        method.toUpperCase(),
        operationOf(one as DescribedOperation),
      ]),
    ),
  }))
  // Fixed paths first, as the router has them.
  return routes.sort((a, b) => a.path.split('{').length - b.path.split('{').length)
}

const compiled = new Map<string, Route[]>()

/** The routes of a service with these settings, compiled once. */
function routesFor(config: Config): Route[] {
  const { adminPath, gateways, settings } = config
  const known = [...gateways.map(({ id }) => id), ...settings.own.map(({ key }) => key)]
  const key = [adminPath, ...known].join(' ')
  const before = compiled.get(key)
  if (before) return before
  const routes = compileDocument(createDocument(config))
  compiled.set(key, routes)
  return routes
}

/** The path of a request as the router reads it. */
function pathOf(target: string): string {
  const { pathname } = new URL(target, 'http://service.test')
  try {
    return decodeURI(pathname)
  } catch {
    return pathname
  }
}

function faultOf(response: Response, answer: Answer): string | null {
  const [type = ''] = (answer.headers.get('content-type') ?? '').split(';')
  const body = response.bodies.get(type)
  const bodiless = response.bodies.size === 0 && answer.text === ''
  if (body === undefined && !bodiless) return `its media type ${type}`
  for (const { name, required, check } of response.headers) {
    const text = answer.headers.get(name)
    if (text === null && required) return `that ${name} is missing`
    const fault = text === null ? null : check(text)
    if (fault !== null) return `${name}${fault}`
  }
  const fault = answer.text === '' ? null : (body?.(answer.json) ?? null)
  return fault === null ? null : `its body ${fault}`
}

/** Statuses that no route is described with: tests bring a fault about, or ask with another method. */
const UNDESCRIBED = new Set([405, 500])

/** What was asked. */
export interface Asked {
  method: string
  path: string
  body?: unknown
}

/** Texts that are trimmed before they are read are described as if they were sent so. */
const trimmed = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (_key, value) =>
    typeof value === 'string' ? value.trim() : value,
  )

/** What the description says against a request that the service took. */
function refusalOf(operation: Operation, asked: Asked): string | null {
  const { searchParams } = new URL(asked.path, 'http://service.test')
  // Others count a value they don't know as not given.
  const strict = operation.responses.has(400)
  for (const { name, check } of strict ? operation.query : []) {
    const text = searchParams.get(name)
    const fault = text === null ? null : check(text)
    if (fault !== null) return `?${name}${fault}`
  }
  if (asked.body === undefined || !operation.body) return null
  return operation.body(asked.body) && operation.body(trimmed(asked.body))
}

function disagreement(operation: Operation, asked: Asked, answer: Answer): string | null {
  const response = operation.responses.get(answer.status)
  if (!response) return 'it has no such status'
  const fault = faultOf(response, answer)
  if (fault !== null) return `it lacks ${fault}`
  const refused = answer.status === 200 ? refusalOf(operation, asked) : null
  return refused === null ? null : `it would not take the request${refused}`
}

/** Throws when the description of the API says nothing of such an answer, something else, or not that the request is taken. */
export function expectDescribed(config: Config, asked: Asked, answer: Answer): void {
  if (config.hostIsolation && answer.status === 404) return
  if (UNDESCRIBED.has(answer.status) || asked.method === 'OPTIONS') return
  const method = asked.method === 'HEAD' ? 'GET' : asked.method
  const path = pathOf(asked.path)
  const operation = routesFor(config)
    .find(({ pattern, methods }) => methods.has(method) && pattern.test(path))
    ?.methods.get(method)
  const about = `the description of the API, ${method} ${path}, ${answer.status}`
  if (operation) {
    const fault = disagreement(operation, asked, answer)
    if (fault !== null) throw new Error(`${about}: ${fault}\n${answer.text.slice(0, 500)}`)
  } else if (![401, 403, 404].includes(answer.status)) {
    // Those answer without a route: the session check, the check for cross-site requests, and where nothing is.
    throw new Error(`${about}: it has no such route`)
  }
}
