/** Input at the edge: bodies, queries and path parts, checked once; a refusal names the field and never echoes the value. */
import * as v from 'valibot'
import { TG_ID_FAULT } from '#db/values.ts'
import { ApiError, CutOff, tooLarge } from '#src/lib/errors.ts'
import { nextTurn } from '#src/lib/event-loop.ts'
import { countStrings, decodeJson, isJsonObject } from '#src/lib/json.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import { orAborted } from '#src/lib/pause.ts'
import { parametersOf } from '#src/lib/query.ts'
import { readAtMost } from '#src/lib/read-at-most.ts'
import { brokenRule, fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Context } from './context.ts'

export const JSON_LIMIT_BYTES = 65_536
/** Of anybody's body: read in 4 ms where they are chosen to take long (lib/json.ts). What gateways send has some dozens. */
export const OPEN_STRINGS = 500
/** Of an admin's: an order of 1000 nodes has one for each. */
const ADMIN_STRINGS = 2000

/** More is long to parse: 250 KB of brackets take 14 ms, 500 strings up to 20 on Bun, where they have garbage collected (lib/json.ts). */
const QUICK_BYTES = 16 * 1024
const QUICK_STRINGS = 100
const MOST_WAITING = 200
/**
 * Strangers' bodies that are long to parse: one in a turn of the event loop, in which all others are answered too. Parsed as they came,
 * those of 90 connections held everybody up for seconds at a time.
 */
const longBodies = createLimiter(1, MOST_WAITING)

/** What comes of reading a body; a client that is gone before its end is a refusal like any other, not a fault of ours. */
async function received(
  c: Context,
  limit: number,
  ready: (bytes: Uint8Array) => Promise<void>,
): Promise<Uint8Array | null> {
  const late = c.env?.late
  try {
    const body = readAtMost(c.req.raw.body, limit, c.env?.bodies, ready)
    return await (late ? orAborted(body, late) : body)
  } catch (error) {
    throw error instanceof ApiError ? error : new CutOff()
  }
}

/**
 * The bytes of a body that is JSON: refused with 413 as soon as they are more than `limit`, with 408 when they come too slowly, with 400 for
 * more strings than anybody needs. Those of a stranger that are long to parse are given in a turn of their own, to be parsed at once; 503
 * where too many wait for one.
 */
export async function readJsonBytes(
  c: Context,
  limit: number,
  mostStrings: number,
): Promise<Uint8Array> {
  if (Number(c.req.header('content-length') ?? 0) > limit) throw tooLarge()
  const body = await received(c, limit, async (bytes) => {
    const strings = countStrings(bytes)
    if (strings > mostStrings) throw refusal('too-many-strings')
    const isQuick = bytes.length <= QUICK_BYTES && strings <= QUICK_STRINGS
    if (!isQuick && !c.get('principal')) await longBodies(nextTurn, c.req.raw.signal)
  })
  if (!body) throw tooLarge()
  return body
}

/** The first fault of an input: the field, where it has one, and what it must be. */
function faultIn(
  issues: [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]],
): [field: string | undefined, rule: string] {
  const [issue] = issues
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return [undefined, 'unknown field']
  const field = issue.path
    ?.map((part) => String(part.key))
    .join('.')
    .slice(0, 60)
  // Messages of our schemas say what a value must be; valibot's own would quote it.
  const reason = issue.message.startsWith('Invalid ')
    ? 'is missing or of the wrong type'
    : issue.message
  return [field || undefined, reason]
}

/** What the schema makes of an input. Throws 400 naming the field. */
export function check<T>(schema: v.GenericSchema<unknown, T>, input: unknown): T {
  const result = v.safeParse(schema, input, { abortEarly: true })
  if (!result.success) throw brokenRule(...faultIn(result.issues))
  return result.output
}

function parseObject<T>(body: Uint8Array, schema: v.GenericSchema<unknown, T>): T {
  let input: unknown
  try {
    input = decodeJson(body)
  } catch {
    throw refusal('invalid-json')
  }
  if (!isJsonObject(input)) throw refusal('not-an-object')
  return check(schema, input)
}

const stringsOf = (c: Context) => (c.get('principal') ? ADMIN_STRINGS : OPEN_STRINGS)

/** The JSON object of a request body, whatever its content type. Throws 400 `invalid JSON`, 413, or 400 naming a field. */
export async function readJson<T>(
  c: Context,
  schema: v.GenericSchema<unknown, T>,
  limit = JSON_LIMIT_BYTES,
): Promise<T> {
  return parseObject(await readJsonBytes(c, limit, stringsOf(c)), schema)
}

/** A JSON object of changes: 400 `nothing to change` when it has no key that is known. */
export async function readChanges<T extends object>(
  c: Context,
  schema: v.GenericSchema<unknown, T>,
  limit?: number,
): Promise<T> {
  const changes = await readJson(c, schema, limit)
  if (Object.values(changes).every((value) => value === undefined)) {
    throw refusal('nothing-to-change')
  }
  return changes
}

/** readJson where a request without a body is as good as `{}`. */
export async function readOptionalJson<T>(
  c: Context,
  schema: v.GenericSchema<unknown, T>,
  limit = JSON_LIMIT_BYTES,
): Promise<T> {
  const body = await readJsonBytes(c, limit, stringsOf(c))
  return body.length === 0 ? check(schema, {}) : parseObject(body, schema)
}

/**
 * A reader of a request's query; of a repeated parameter the first. It makes no object of all of them, whose names a stranger may have
 * chosen to take long (lib/json.ts).
 */
function queryOf(c: Context): (name: string) => string | null {
  const { url } = c.req.raw
  const at = url.indexOf('?')
  return parametersOf(at < 0 ? '' : url.slice(at + 1))
}

/** A parameter of the query. */
export const queryParameter = (c: Context, name: string): string | undefined =>
  queryOf(c)(name) ?? undefined

/** The parameters that a schema names. Throws 400 naming one. */
export function readQuery<E extends v.ObjectEntries>(
  c: Context,
  schema: v.ObjectSchema<E, undefined>,
): v.InferOutput<v.ObjectSchema<E, undefined>> {
  const given = queryOf(c)
  const named = Object.keys(schema.entries).flatMap((name) => {
    const value = given(name)
    return value === null ? [] : [[name, value]]
  })
  return check(schema, Object.fromEntries(named))
}

const ROW_ID = /^[1-9]\d{0,15}$/
const TG_ID = /^-?[1-9]\d{0,15}$/

/** The number of a customer that a part of a path is: up to 2^53-1, below 0 too; else 400. */
export function readTgId(text: string): number {
  const id = Number(text)
  if (!TG_ID.test(text) || !Number.isSafeInteger(id)) {
    throw fieldRefusal('tg_id', 'not-positive')
  }
  return id
}

/** The numeric id that a part of a path is, or null when it is none: like an unknown one. */
export function readId(text: string): number | null {
  return ROW_ID.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null
}

/** The number of a customer in a query. */
export const queryTgId = v.pipe(
  v.string(),
  v.regex(/^-?(?!0+$)\d{1,16}$/, TG_ID_FAULT),
  v.transform(Number),
  v.minValue(Number.MIN_SAFE_INTEGER, TG_ID_FAULT),
  v.maxValue(Number.MAX_SAFE_INTEGER, TG_ID_FAULT),
)

/** `true` or `false` in a query. */
export const queryFlag = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((text) => text === 'true'),
)

/** A new order of all things of a kind, by their codes. */
export const ordering = (what: string) =>
  v.object({
    codes: v.pipe(
      v.array(v.string('must be a string'), `must be a list of ${what} codes`),
      v.minLength(1, 'must not be empty'),
    ),
  })

/** What a listing is searched for, in the form that names have (db/values.ts). */
export const searchText = v.pipe(
  v.string(),
  v.trim(),
  v.maxLength(256, 'is too long'),
  v.normalize('NFC'),
)
