import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hostApp } from '#src/http/app.ts'
import type { Http } from '#src/http/context.ts'
import { createDocument } from '#src/http/openapi.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import type { Services } from '#src/services.ts'
import { settingsTable } from '#src/settings/table.ts'
import type { Answer } from '#test/support/worlds/answer.ts'
import { expectDescribed } from '#test/support/worlds/described.ts'
import { type JsonSchema, schemaCompiler } from '#test/support/worlds/json-schema.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => w.close())

interface Described {
  operationId: string
  summary: string
  tags: string[]
  security?: object[]
  parameters?: { name: string; in: string; required: boolean; schema: JsonSchema }[]
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> }
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: JsonSchema }> }>
}

interface Entry {
  method: string
  path: string
  operation: Described
}

const entriesOf = (document: ReturnType<typeof createDocument>): Entry[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: operation as Described,
    })),
  )

/** Method and path without the names of the parameters, which the router has its own for; there the ending of one is a pattern. */
const shape = (method: string, path: string) =>
  `${method} ${path.replace(/:\w+\{\[\^\/\]\+\\(\.\w+)\}/g, '*$1').replace(/:\w+|\{\w+\}/g, '*')}`

/** What the router of a host with all roles serves, middleware apart. */
function servedBy(world: World): string[] {
  const app = hostApp(world.s as Services as Http, new Set(['sub', 'site', 'panel']))
  return app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => shape(method, path))
    .sort()
}

const describedBy = (world: World) =>
  entriesOf(createDocument(world.config))
    .map(({ method, path }) => shape(method, path))
    .sort()

describe('the routes of the service', () => {
  test('are all described, and nothing else is', () => {
    const served = servedBy(w)
    expect(served.length).toBeGreaterThan(50)
    expect(describedBy(w)).toEqual(served)
  })

  test('are described where a custom ADMIN_PATH puts them', async () => {
    w.close()
    w = await createWorld({ environment: { ADMIN_PATH: 'a.b/c~d' } })
    expect(describedBy(w)).toEqual(servedBy(w))
    expect(describedBy(w)).toContain('GET /a.b/c~d')
    expect(describedBy(w)).not.toContain('GET /admin')
  })

  test('need a session where the description says so', async () => {
    const { paths } = (await w.admin('/admin/api/openapi.json')).json
    const before = w.dump()
    const open: string[] = []
    for (const { method, path, operation } of entriesOf({ paths } as never)) {
      if (!path.startsWith('/admin/api/')) continue
      if (!operation.security) {
        open.push(`${method} ${path.slice('/admin/api'.length)}`)
        continue
      }
      const answer = await w.call(path.replace(/\{\w+\}/g, '1'), { method })
      expect([answer.status, answer.json], path).toEqual([401, { error: 'unauthorized' }])
    }
    expect(open.sort()).toEqual(['GET /me', 'POST /login', 'POST /login/totp', 'POST /logout'])
    expect(w.dump()).toBe(before)
  })
})

describe('GET /admin/api/openapi.json', () => {
  test('gives the document of this service as JSON', async () => {
    const answer = await w.admin('/admin/api/openapi.json')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.json).toEqual(JSON.parse(JSON.stringify(createDocument(w.config))))
    expect(answer.json.servers).toEqual([{ url: 'https://panel.test' }])
    expect((await w.admin('/admin/api/openapi.json')).text).toBe(answer.text)
  })
})

describe('the document', () => {
  const document = createDocument({
    adminPath: 'admin',
    publicScheme: 'https',
    domains: { sub: 'sub.test', site: 'site.test', panel: 'panel.test' },
    gateways: GATEWAYS,
    settings: settingsTable(GATEWAYS),
  })
  const entries = entriesOf(document)
  const compile = schemaCompiler(document)

  test('is OpenAPI 3.1 with what that demands', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) })
    const names = new Set(entries.map(({ operation }) => operation.operationId))
    expect(names.size).toBe(entries.length)
    const tags = document.tags.map(({ name }) => name)
    for (const { operation } of entries)
      expect(tags).toEqual(expect.arrayContaining(operation.tags))
    for (const name of Object.keys(document.components.schemas)) expect(name).toMatch(/^[A-Z]\w*$/)
  })

  test.each(entries)('describes $method $path whole', ({ path, operation }) => {
    const { parameters = [], requestBody, responses, summary } = operation
    expect(summary).toMatch(/^[A-Z].{5,99}[^.]$/)
    const inPath = parameters.filter((one) => one.in === 'path')
    expect(inPath.map(({ name }) => name)).toEqual(
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
    )
    for (const one of inPath) expect(one.required).toBe(true)
    for (const { schema } of parameters) compile(schema)
    for (const { schema } of Object.values(requestBody?.content ?? {})) compile(schema)
    // The way to another page has no body.
    const { 303: redirect, ...others } = responses
    expect([redirect, others[200]].filter(Boolean)).toHaveLength(1)
    for (const { $ref, content } of Object.values(others)) {
      const named = $ref?.split('/').at(-1) ?? ''
      const { content: shared } = document.components.responses[named] ?? { content }
      expect(shared).toBeDefined()
      for (const { schema } of Object.values(shared ?? {})) compile(schema as JsonSchema)
    }
  })

  test.each(Object.entries(document.components.schemas))('has a sound %s', (_name, schema) => {
    compile(schema as JsonSchema)
  })

  test('says what bodies are held to', () => {
    const bodyOf = (method: string, path: string) =>
      entries.find((one) => one.method === method && one.path === `/admin/api${path}`)?.operation
        .requestBody?.content['application/json']?.schema as JsonSchema
    const node = bodyOf('POST', '/nodes')
    expect(node).toMatchObject({
      required: ['code', 'label', 'address', 'public_key', 'short_id', 'sni'],
      properties: {
        code: { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,32}$' },
        port: { type: 'integer', minimum: 1, maximum: 65_535, default: 443 },
        kind: { enum: ['local', 'managed', 'external'] },
        label: { maxLength: 128, minLength: 1 },
      },
    })
    const check = compile(bodyOf('POST', '/payments/provider-b-settings'))
    expect(check({ merchant_id: 'm', secret: 's' })).toBeNull()
    expect(check({ shop_id: 'm', secret_key: 's' })).toBeNull()
    expect(check({ merchant_id: 'm' })).not.toBeNull()
    expect(check({ merchant_id: 'two words', secret: 's' })).not.toBeNull()
    const strict = compile(bodyOf('POST', '/hwid-settings'))
    expect(strict({ enabled: true })).toBeNull()
    expect(strict({ enabled: true, more: 1 })).not.toBeNull()
    expect(strict({})).not.toBeNull()
    const prices = compile(bodyOf('POST', '/payments/plan-settings'))
    expect(prices({ prices: { '1m': 5 } })).toBeNull()
    expect(prices({ prices: { '1m': -5 } })).not.toBeNull()
  })
})

describe('what holds answers against the document', () => {
  const asked = { method: 'GET', path: '/admin/api/plans' }
  const answerOf = (status: number, json: unknown, headers = {}): Answer => ({
    status,
    headers: new Headers({
      'content-type': 'application/json',
      ...(status >= 400 && { 'x-error-code': 'unauthorized' }),
      ...headers,
    }),
    bytes: new Uint8Array(),
    text: JSON.stringify(json),
    json,
  })
  const plan = {
    ...{ code: '1m', label: 'x', days: 30, price: 1, currency: 'RUB' },
    ...{ price_stars: null, sort_order: 0, archived: false },
  }
  const expectFault = (fault: RegExp, answer: Answer, request: object = asked) =>
    expect(() => expectDescribed(w.config, request as typeof asked, answer)).toThrow(fault)

  test('lets a true answer pass', () => {
    expectDescribed(w.config, asked, answerOf(200, [plan]))
    expectDescribed(w.config, asked, answerOf(401, { error: 'unauthorized' }))
  })

  test('finds every kind of lie', () => {
    const { archived, ...short } = plan
    expectFault(/lacks archived/, answerOf(200, [short]))
    expectFault(/0\/secret: is not described/, answerOf(200, [{ ...plan, secret: 'x' }]))
    expectFault(/price: is no integer/, answerOf(200, [{ ...plan, price: 1.5 }]))
    expectFault(/no such status/, answerOf(404, { error: 'x' }))
    expectFault(/lacks error/, answerOf(401, {}))
    expectFault(/media type text\/plain/, answerOf(200, [], { 'content-type': 'text/plain' }))
    expectFault(/X-Error-Code/, answerOf(401, { error: 'x' }, { 'x-error-code': 'no-such-code' }))
    expectFault(/Retry-After is missing/, answerOf(503, { error: 'x' }))
    expectFault(/no such route/, answerOf(200, {}), { method: 'GET', path: '/admin/api/new' })
    expectFault(/X-Total-Count is missing/, answerOf(200, []), {
      ...asked,
      path: '/admin/api/audit',
    })
  })

  test('finds a request that is taken and not described', () => {
    const request = { method: 'POST', path: '/admin/api/plans' }
    const body = { code: '1m', label: 'x', days: 30, price: 1 }
    expectDescribed(w.config, { ...request, body }, answerOf(200, plan))
    expectFault(/would not take the request\/days/, answerOf(200, plan), {
      ...request,
      body: { ...body, days: -1 },
    })
  })
})
