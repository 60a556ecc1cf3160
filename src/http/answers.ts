/** What operations say of their answers: JSON by a schema, pages of lists, files, pages for people. */
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
  /** 200 unless it says otherwise. */
  status?: 303
  media: Media
  headers?: Record<string, HeaderNote>
}

/** A JSON answer with more to tell than its schema. */
export interface JsonAnswer<S extends v.GenericSchema> extends Answer {
  media: Media & { 'application/json': S }
}

const html: Media = { 'text/html': 'text' }

/** A page. */
export const page: Answer = { media: html }

/** A file that a page loads. */
export const asset: Answer = { media: { 'text/javascript': 'text', 'text/css': 'text' } }

/** A text for a program. */
export const plainTextFile: Answer = { media: { 'text/plain': 'text' } }

/** Whether the errors of an operation that answers so may be pages too. */
export const isPage = (ok: v.GenericSchema | Answer) =>
  'media' in ok && ('text/html' in ok.media || ok.status === 303)

/** Events as they happen, for as long as somebody reads. */
export const eventStream: Answer = { media: { 'text/event-stream': 'text' } }

/** The way to another page. */
export const redirect: Answer = {
  status: 303,
  media: {},
  headers: { Location: { summary: 'Where it is', schema: v.string(), always: true } },
}

const count = v.pipe(v.number(), v.integer(), v.minValue(0))

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
