/** What the tables of operations are made of. */
import * as v from 'valibot'

/** A body of an answer: its schema where it is JSON, else what it is. */
export type Media = Record<string, v.GenericSchema | 'text' | 'bytes'>

export interface HeaderNote {
  summary: string
  schema: v.GenericSchema
  /** Whether every such answer has it. */
  always: boolean
}

export interface Answer {
  media: Media
  headers?: Record<string, HeaderNote>
}

export type RefusalStatus = 400 | 401 | 403 | 404 | 413 | 429 | 503

export interface Operation {
  method: 'get' | 'post' | 'patch' | 'delete'
  /** With `{name}` for each of `params`. */
  path: string
  tag: string
  /** One line for the person who runs the service. */
  summary: string
  /** Needs no session. */
  open?: true
  params?: Record<string, v.GenericSchema>
  query?: v.ObjectSchema<v.ObjectEntries, undefined>
  /** Request headers that change the answer. */
  headers?: Record<string, v.GenericSchema>
  /** The schema that the route reads its JSON by; `archive` for a form with one. */
  body?: v.GenericSchema | 'archive'
  /** The body names what is to change, at least one thing. */
  changes?: true
  /** A request without a body is as good as `{}`. */
  bodyOptional?: true
  /** A body that does not fit is passed over, not refused. */
  lenient?: true
  /** The schema of the JSON that 200 brings, or another kind of answer. */
  ok: v.GenericSchema | Answer
  /** Statuses of refusals beside those that follow from the rest. */
  refusals?: readonly RefusalStatus[]
}

type AdminOperation = Omit<Operation, 'tag' | 'path'> & { path: `/${string}` }

type UnderAdmin<L extends readonly AdminOperation[]> = {
  [K in keyof L]: Omit<L[K], 'path'> & { tag: string; path: `/admin/api${L[K]['path']}` }
}

/** Operations under /admin/api that share a subject; their types are what the panel's client knows of the API. */
export const adminOperations = <const L extends readonly AdminOperation[]>(
  tag: string,
  list: L,
): UnderAdmin<L> =>
  list.map((operation) => ({
    ...operation,
    tag,
    path: `/admin/api${operation.path}`,
  })) as UnderAdmin<L>

type OpenOperation = Omit<Operation, 'method' | 'tag' | 'open'> & Partial<Pick<Operation, 'method'>>

/** Operations without a session that share a subject; `get` unless they say otherwise. */
export const openOperations = (tag: string, list: OpenOperation[]): Operation[] =>
  list.map((operation) => ({ method: 'get', open: true, tag, ...operation }))

/** The body of a route that refuses to change nothing. */
export const changesOf = <const S extends v.GenericSchema>(schema: S) =>
  v.pipe(schema, v.metadata({ minProperties: 1 }))

const html: Media = { 'text/html': 'text' }

/** A page. */
export const page: Answer = { media: html }

/** Whether the errors of an operation may be pages too. */
export const isPage = ({ ok }: Operation) => 'media' in ok && 'text/html' in ok.media

const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** A JSON answer with more to tell than its schema. */
export interface JsonAnswer<S extends v.GenericSchema> extends Answer {
  media: Media & { 'application/json': S }
}

/** An answer that holds a list, of which it has one page. */
export const pageIn = <const S extends v.GenericSchema>(
  schema: S,
  others: Media = {},
): JsonAnswer<S> => ({
  media: { 'application/json': schema, ...others },
  headers: {
    'X-Total-Count': {
      summary: 'How many match in all, counted up to 10000',
      schema: count,
      always: Object.keys(others).length === 0,
    },
    'X-Total-Capped': {
      summary: '1 when there are more than X-Total-Count says',
      schema: v.literal('1'),
      always: false,
    },
    Link: {
      summary: 'The address of the next page, when there is one',
      schema: v.pipe(v.string(), v.regex(/^<[^>]+>; rel="next"$/)),
      always: false,
    },
  },
})

/** A list that comes in pages. */
export const paged = <const S extends v.GenericSchema>(items: S, others: Media = {}) =>
  pageIn(v.array(items), others)

/** A file that is saved under a name, of one of these types. */
export const download = (...types: string[]): Answer => ({
  media: Object.fromEntries(types.map((type) => [type, 'bytes'])),
  headers: {
    'Content-Disposition': {
      summary: 'The name of the file',
      schema: v.pipe(v.string(), v.regex(/^attachment; filename="[^"]+"$/)),
      always: true,
    },
  },
})
