/** The operations of the service: each declares once what it takes, what it answers and who may ask, and has its handler beside that. */
import { Hono } from 'hono'
import type * as v from 'valibot'
import {
  type Principal,
  requireScope,
  type Scope,
  type SessionPrincipal,
  type SessionScope,
} from '#src/domain/accounts/principals.ts'
import type { Actor } from '#src/domain/audit.ts'
import type { Answer, JsonAnswer } from './answers.ts'
import { ADMIN_API, requireConfirmed, requireSession } from './auth.ts'
import { type AppEnv, type Context, type Http, inTurnOf } from './context.ts'
import { readChanges, readJson, readOptionalJson, readQuery } from './validate.ts'

export type RefusalStatus = 400 | 401 | 403 | 404 | 413 | 429 | 503

/** What the description puts together, in its order. */
export const TAGS = [
  'Accounts',
  'Users',
  'Subscriptions',
  'Nodes',
  'Plans',
  'Gift codes',
  'Payments',
  'Shop',
  'Notices',
  'Settings',
  'Payment settings',
  'Data',
  'Links',
  'Site',
  'Service',
  'Panel',
] as const

type Tag = (typeof TAGS)[number]

interface Terms {
  method: 'get' | 'post' | 'patch' | 'delete'
  /** With `{name}` for each of `params`. */
  path: `/${string}`
  /** What logs and metrics call it, where its path is this installation's own: else they have the path. */
  label?: string
  /** One line for the person who runs the service. */
  summary: string
  params?: Record<string, v.GenericSchema>
  query?: v.ObjectSchema<v.ObjectEntries, undefined>
  /** Request headers that change the answer. */
  headers?: Record<string, v.GenericSchema>
  /** The schema of the JSON that it takes; `archive` for a form with one. */
  body?: v.GenericSchema | 'archive'
  /** So many bytes of JSON it takes, where that is not as many as all others take. */
  bodyBytes?: number
  /** A request without a body is as good as `{}`. */
  bodyOptional?: true
  /** The body names what is to change, at least one thing. */
  changes?: true
  /** A body that does not fit is passed over, not refused. */
  lenient?: true
  /** The schema of the JSON that 200 brings, or another kind of answer. */
  ok: v.GenericSchema | Answer
  /** Statuses of refusals beside those that follow from the rest. */
  refusals?: readonly RefusalStatus[]
}

/** Needs no session: anybody may ask, whoever has the token that the path has, or a gateway, as far as its descriptor believes it. */
interface Open {
  open: 'public' | 'token in path' | 'gateway'
  scope?: never
  confirmed?: never
  enrolment?: never
  acts?: never
}

interface Guarded {
  open?: never
  scope: Scope
  /** A session of the panel has to be confirmed before anything else is looked at: {@link requireConfirmed}. */
  confirmed?: true
  /** Also for accounts that have to set up two-factor login first. */
  enrolment?: true
  /** Although it is a GET it does something, so that other sites must not make a browser send it. */
  acts?: true
}

export type Declaration = Terms & (Open | Guarded)

/** An operation as the description has it: `path` is whole. */
export type Operation = Declaration & { tag: Tag }

/** What an operation answers, as its handler gives it. */
export type Output<D> = D extends { ok: infer Ok }
  ? Ok extends v.GenericSchema
    ? v.InferOutput<Ok>
    : Ok extends JsonAnswer<infer S>
      ? v.InferOutput<S>
      : never
  : never

type OutputOf<S> = S extends v.GenericSchema ? v.InferOutput<S> : never

/** A request for an operation. */
export type Call<D extends Declaration> = {
  s: Http
  c: Context
  /** The named parts of the path, as they were sent. */
  params: { [K in keyof D['params']]: string }
  /** The query. Throws 400 naming a field. */
  query: () => OutputOf<D['query']>
  /** The JSON body, read when it is asked for. Throws 400 and 413. */
  body: () => Promise<OutputOf<D['body']>>
  /** The same by a schema that only the path tells, narrower than the declared one. */
  bodyAs: <T extends object>(schema: v.GenericSchema<unknown, T>) => Promise<T>
} & (D extends { open: Open['open'] } ? unknown : { principal: Principal; actor: Actor }) &
  (D extends { scope: SessionScope } ? { login: SessionPrincipal } : unknown)

/** Gives the JSON of a 200, or an answer of its own. */
type Handler<D extends Declaration> = (
  call: Call<D>,
) => Output<D> | Response | Promise<Output<D> | Response>

/** `handle` takes the `Call` of its declaration. */
interface Handled {
  handle: (call: never) => unknown
}

/** An operation that {@link routesOf} serves. */
export type ServedOperation = Operation & Handled

/** Declares an operation; `handle` is held to what it declares. */
export const operation = <const D extends Declaration>(
  declaration: D,
  handle: Handler<D>,
): D & Handled => ({ ...declaration, handle })

type UnderAdmin<L extends readonly Declaration[]> = {
  [K in keyof L]: Omit<L[K], 'path'> & { tag: Tag; path: `${typeof ADMIN_API}${L[K]['path']}` }
}

/** Operations under /admin/api that share a subject; their types are what the panel's client knows of the API. */
export const adminOperations = <const L extends readonly Declaration[]>(
  tag: Tag,
  list: L,
): UnderAdmin<L> =>
  list.map((one) => ({ ...one, tag, path: `${ADMIN_API}${one.path}` })) as UnderAdmin<L>

/** Operations without a session that share a subject. */
export const openOperations = (
  tag: Tag,
  list: readonly (Terms & Open & Handled)[],
): ServedOperation[] => list.map((one) => ({ ...one, tag }))

type Body = v.GenericSchema<unknown, object>

/** Reads bodies of an operation, and looks again at who asks after each: it may have come slowly. */
const bodyReader =
  (s: Http, c: Context, { open, bodyBytes, bodyOptional, changes }: Declaration) =>
  async (schema: Body): Promise<unknown> => {
    const read = changes ? readChanges : bodyOptional ? readOptionalJson : readJson
    const body = await read(c, schema, bodyBytes)
    if (!open) await requireSession(s, c)
    return body
  }

const NAMED = /\{(\w+)\}(\.\w+)?/g

/** A path as the router has it: of a named part with an ending the ending is a part of it. */
const routeOf = (path: string) =>
  path.replace(NAMED, (_, name: string, ending?: string) =>
    ending ? `:${name}{[^/]+\\${ending}}` : `:${name}`,
  )

/** The named parts of a request's path, without endings. */
function paramsOf(c: Context, path: string): Record<string, string> {
  const params: Record<string, string> = c.req.param()
  for (const [, name = '', ending] of path.matchAll(NAMED)) {
    if (ending) params[name] = (params[name] as string).slice(0, -ending.length)
  }
  return params
}

/** Whoever is let in by what they know, a link or a secret, may be anybody until it is looked up. */
const servicesFor = (s: Http, c: Context, { open }: Declaration) => (open ? inTurnOf(s, c) : s)

/** Routes that serve these operations, whatever their order. */
export function routesOf(s: Http, operations: readonly ServedOperation[]): Hono<AppEnv> {
  const routes = new Hono<AppEnv>()
  // The first that fits is taken: fixed parts come before named ones, as `{` stands behind all letters.
  const sorted = operations.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  for (const one of sorted) {
    routes[one.method](routeOf(one.path), async (c) => {
      c.set('label', one.label ?? one.path)
      const principal = one.open ? undefined : c.get('principal')
      if (principal) requireScope(principal, one.scope as Scope)
      if (one.confirmed) requireConfirmed(c)
      const readBody = bodyReader(s, c, one)
      const answer = await one.handle({
        s: servicesFor(s, c, one),
        c,
        principal,
        login: principal,
        actor: principal?.actor,
        params: paramsOf(c, one.path),
        query: () => readQuery(c, one.query as NonNullable<Terms['query']>),
        body: () => readBody(one.body as Body),
        bodyAs: readBody,
      } as never)
      return answer instanceof Response ? answer : c.json(answer as object)
    })
  }
  return routes
}
