/** What the panel's client knows of the admin API: the table of operations, as types. Nothing of it exists at run time. */
import type { Hono } from 'hono'
import type * as v from 'valibot'
import type { adminOperationsOf } from './admin/operations.ts'
import type { AppEnv } from './context.ts'
import type { Output } from './operation.ts'

type Described = ReturnType<typeof adminOperationsOf>[number]

/** `/users/{tg_id}` as Hono writes it: `/users/:tg_id`. */
type Route<P extends string> = P extends `${infer Head}{${infer Name}}${infer Rest}`
  ? `${Head}:${Name}${Route<Rest>}`
  : P

type Params<O> = O extends { params: infer P }
  ? { param: Record<keyof P & string, string> }
  : object

type Query<O> = O extends { query: infer Q extends v.GenericSchema }
  ? Record<string, never> extends v.InferInput<Q>
    ? { query?: v.InferInput<Q> }
    : { query: v.InferInput<Q> }
  : object

type Body<O> = O extends { body: infer B extends v.GenericSchema }
  ? O extends { bodyOptional: true }
    ? { json?: v.InferInput<B> }
    : { json: v.InferInput<B> }
  : object

// No interface: Hono's client wants types that may have an index signature.
type Endpoint<O> = {
  input: Params<O> & Query<O> & Body<O>
  output: Output<O>
  outputFormat: 'json'
  status: 200
}

type Schema = {
  [P in Described['path'] as Route<P>]: {
    [O in Extract<Described, { path: P }> as `$${O['method']}`]: Endpoint<O>
  }
}

/** For `hc<AdminApi>()`. */
export type AdminApi = Hono<AppEnv, Schema, '/'>
