/** The admin API: a client whose types come from the service's own table of operations. */
import { hc } from 'hono/client'
import type { AdminApi } from '#src/http/admin-client.ts'
import { ApiError } from './api-error.ts'
import { askReauth } from './reauth.ts'
import { loadRefusals } from './refusals.ts'
import { connectionLost, enrolmentNeeded, sessionLost } from './session.ts'
import { common } from './texts.ts'

/** A read that takes longer is given up; changes may take as long as they take. */
const READ_TIMEOUT_MS = 30_000

/** Statuses that the service does not use: a proxy before it has no answer of it. */
const FROM_OTHERS = [502, 504]

const READS = ['GET', 'HEAD']

const sendOnce = async (input: RequestInfo | URL, init: RequestInit): Promise<Response> => {
  const reads = READS.includes(init.method ?? 'GET')
  try {
    const response = await fetch(input, {
      ...init,
      cache: 'no-store',
      ...(reads && { signal: AbortSignal.timeout(READ_TIMEOUT_MS) }),
    })
    // One that breaks off on its way is none.
    const body = await response.arrayBuffer()
    if (!FROM_OTHERS.includes(response.status)) return new Response(body, response)
  } catch {
    // Told below, like the word of a proxy that got no answer itself.
  }
  connectionLost()
  // A change may have been made all the same, and most are not to be made twice.
  throw new ApiError(0, reads ? common().noAnswer : common().maybeDone)
}

/** Sends again what had to be confirmed first. */
const send = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
  const response = await sendOnce(input, init)
  const isUnconfirmed = response.headers.get('x-error-code') === 'confirmation-required'
  return isUnconfirmed && (await askReauth()) ? sendOnce(input, init) : response
}

/** Whether backups may be taken and put back, confirmed now where it has to be: the browser sends those requests itself. */
export async function isConfirmed(): Promise<boolean> {
  const { status } = await sendOnce('/admin/api/backup', { method: 'HEAD' })
  if (status === 401) sessionLost()
  return status === 403 ? askReauth() : status === 200
}

/** `api.users[':tg_id'].grant.$post({ param: { tg_id: '1' }, json: { node, plan } })` */
export const api = hc<AdminApi>('/', { fetch: send as typeof fetch }).admin.api

interface Answered<T> {
  ok: boolean
  status: number
  headers: Headers
  json(): Promise<T>
}

/** Makes an ApiError of a response that is no success; tells the session when there is none any more. */
export async function refusalOf(response: {
  status: number
  headers: Headers
  json(): Promise<unknown>
}): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as { error?: unknown } | null
  const message = typeof body?.error === 'string' ? body.error : common().failed(response.status)
  const { status, headers } = response
  const code = headers.get('x-error-code')
  if (code === 'unauthorized') sessionLost()
  if (code === 'second-factor-required') enrolmentNeeded()
  const wait = Number(headers.get('retry-after'))
  if (status === 429 && wait > 0) return new ApiError(429, common().tooMany(wait))
  await loadRefusals()
  const values = new URLSearchParams(headers.get('x-error-values') ?? '')
  return new ApiError(status, message, code, Object.fromEntries(values))
}

/** The body of a success; throws ApiError for anything else. */
export async function ok<T>(answer: Promise<Answered<T>>): Promise<T> {
  const response = await answer
  if (!response.ok) throw await refusalOf(response)
  return response.json()
}

export interface Page<T> {
  rows: T[]
  /** How many match in all. */
  total: number
  /** There are more than `total` says. */
  capped: boolean
  /** The cursor of the next page; null on the last one. */
  next: string | null
}

/** A page of a list that is paged by key. */
export const paged = <T>(answer: Promise<Answered<T[]>>): Promise<Page<T>> =>
  pagedIn(answer, (rows) => ({ rows }))

/** The same of an answer that holds more than its rows. */
export async function pagedIn<B, M extends { rows: unknown[] }>(
  answer: Promise<Answered<B>>,
  read: (body: B) => M,
): Promise<M & Page<M['rows'][number]>> {
  const response = await answer
  if (!response.ok) throw await refusalOf(response)
  const { headers } = response
  const link = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  const page = read(await response.json())
  const { rows } = page
  return {
    ...page,
    total: Number(headers.get('x-total-count') ?? rows.length),
    capped: headers.get('x-total-capped') === '1',
    next: link ? new URL(link, location.href).searchParams.get('cursor') : null,
  }
}

/** What a call answers with: `Answer<typeof api.stats.$get>`. */
export type Answer<F> = F extends (...args: never[]) => Promise<infer R>
  ? R extends { json(): Promise<infer T> }
    ? T
    : never
  : never

/** One row of a list: `Row<typeof api.users.$get>`. */
export type Row<F> = Answer<F> extends (infer T)[] ? T : never

/** The query that a call takes: `QueryOf<typeof api.users.$get>`. */
export type QueryOf<F> = F extends (args?: infer A, ...rest: never[]) => unknown
  ? NonNullable<A> extends { query?: infer Q }
    ? NonNullable<Q>
    : never
  : never
