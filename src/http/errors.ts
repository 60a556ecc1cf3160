/** The one place that turns a thrown value into a response. */
import { isBusy, isFull } from '#db/engine/failures.ts'
import { ApiError, CutOff, errorMessage, unavailable } from '#src/lib/errors.ts'
import { apiHeaders, transportHeaders } from '#src/web/csp.ts'
import type { Context, Http } from './context.ts'
import { renderError } from './pages.ts'

/** Paths whose errors people see. */
const PAGES = /^\/(?:$|(?:sub|pay)(?:\/|$)|offer$|privacy$|cabinet\.html$)/

function refusalOf(s: Http, c: Context, error: unknown): ApiError {
  if (error instanceof CutOff) {
    s.log.debug('a client went away in the middle of its body', { route: c.get('label') ?? '' })
  }
  if (error instanceof ApiError) return error
  s.fatal(error)
  if (isFull(error)) {
    s.log.error('the disk is full: nothing can be written', {})
    return unavailable('the disk is full, nothing can be changed')
  }
  if (isBusy(error)) return unavailable('the database is busy, try again')
  s.log.error('request failed', {
    method: c.req.method,
    route: c.get('label') ?? '',
    reason: errorMessage(error),
    stack: error instanceof Error ? (error.stack ?? '').split('\n').slice(1, 4).join(' | ') : '',
  })
  return new ApiError(500, 'internal error')
}

/** JSON `{"error": message}`, with a `code` where the refusal has one, or a page where people look. */
export function errorResponse(s: Http, c: Context, error: unknown): Response {
  const { status, message, headers, code } = refusalOf(s, c, error)
  if (PAGES.test(c.req.path) && c.req.header('accept')?.includes('text/html')) {
    return renderError(s, c, { status, message, headers })
  }
  return new Response(JSON.stringify({ error: message, ...(code && { code }) }), {
    status,
    headers: {
      ...apiHeaders,
      ...transportHeaders(s.config.publicScheme),
      'Content-Type': 'application/json',
      'Cache-Control': 'private, no-store',
      ...headers,
    },
  })
}
