/** Lists paged by key over HTTP: `limit`, `cursor`, `order`; `X-Total-Count` and `Link` on the answer. */

import * as v from 'valibot'
import { COUNT_CAP, type Cursor, type PageRequest } from '#db/paging.ts'
import { base64url, fromBase64, fromUtf8, utf8 } from '#src/lib/encoding.ts'
import { queryInteger } from '#src/lib/values.ts'
import { fieldRefusal } from '#src/refusals/index.ts'
import type { Context } from './context.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000

/** The query parameters that every paged list has. */
export const pageQuery = {
  limit: v.optional(queryInteger(1, MAX_LIMIT)),
  cursor: v.optional(v.string()),
  order: v.optional(v.picklist(['asc', 'desc'], 'must be asc or desc')),
}

function parseCursor(text: string): Cursor {
  try {
    const [value, key] = JSON.parse(fromUtf8(fromBase64(text))) as unknown[]
    if (typeof value === 'string' && Number.isSafeInteger(key)) return { value, key: key as number }
  } catch {
    // Refused below, like every cursor that is not ours.
  }
  throw fieldRefusal('cursor', 'not-of-this-list')
}

export function pageOf(
  query: {
    limit?: number | undefined
    cursor?: string | undefined
    order?: 'asc' | 'desc' | undefined
  },
  defaultLimit = DEFAULT_LIMIT,
): PageRequest {
  return {
    limit: query.limit ?? defaultLimit,
    cursor: query.cursor === undefined ? null : parseCursor(query.cursor),
    order: query.order ?? 'desc',
  }
}

/** The items of a page, with the headers that its answer has; `last` is where the next page starts, when there is one. */
export function onePage<T>(
  c: Context,
  items: T[],
  page: PageRequest,
  total: number,
  last: Cursor | null,
): T[] {
  pageHeaders(c, items, page, total, last)
  return items
}

/** The headers of a paged list whose rows are not the whole answer. */
export function pageHeaders(
  c: Context,
  items: unknown[],
  page: PageRequest,
  total: number,
  last: Cursor | null,
): void {
  c.header('X-Total-Count', String(Math.min(total, COUNT_CAP)))
  if (total > COUNT_CAP) c.header('X-Total-Capped', '1')
  if (last && items.length === page.limit) {
    const url = new URL(c.req.url)
    url.searchParams.set('cursor', base64url(utf8(JSON.stringify([last.value, last.key]))))
    c.header('Link', `<${url.pathname}${url.search}>; rel="next"`)
  }
}
