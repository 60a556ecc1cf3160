/** The one place that turns a thrown value into a response. */
import { isAway, isBusy, isFull, isRefused } from '#db/engine/failures.ts'
import { ApiError, CutOff, errorMessage } from '#src/lib/errors.ts'
import { noteFault } from '#src/lib/note-fault.ts'
import { refusal } from '#src/refusals/index.ts'
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
  if (isFull(error)) {
    s.log.error('the disk is full: nothing can be written', {})
    return refusal('disk-full')
  }
  if (isBusy(error)) return refusal('database-busy')
  if (isAway(error)) {
    s.log.error('the database cannot be reached', { reason: errorMessage(error) })
    return refusal('database-away')
  }
  if (isRefused(error)) {
    s.log.error('the database is not taken as it is', { reason: errorMessage(error) })
    return refusal('database-newer')
  }
  noteFault(s, 'error', 'request failed', error, {
    method: c.req.method,
    route: c.get('label') ?? '',
    reason: errorMessage(error),
    stack: error instanceof Error ? (error.stack ?? '').split('\n').slice(1, 4).join(' | ') : '',
  })
  return refusal('internal-error')
}

/** Codes that the body has too, for who knew them before there were others. */
const BODY_CODES: Partial<Record<string, string>> = { 'confirmation-required': 'reauth_required' }

/** By which code a refusal is declared, and what was put into its sentence, in the form of a query. */
function headersOf({ code = 'other', values, headers }: ApiError): Record<string, string> {
  const said = String(new URLSearchParams(values))
  return { 'X-Error-Code': code, ...(said && { 'X-Error-Values': said }), ...headers }
}

/** JSON `{"error": message}`. */
export function refusedResponse(s: Pick<Http, 'config'>, refused: ApiError): Response {
  const { status, message, code = '' } = refused
  const bodyCode = BODY_CODES[code]
  return new Response(JSON.stringify({ error: message, ...(bodyCode && { code: bodyCode }) }), {
    status,
    headers: {
      ...apiHeaders,
      ...transportHeaders(s.config.publicScheme),
      'Content-Type': 'application/json',
      'Cache-Control': 'private, no-store',
      ...headersOf(refused),
    },
  })
}

/** The same, or a page where people look. */
export function errorResponse(s: Http, c: Context, error: unknown): Response {
  const refused = refusalOf(s, c, error)
  if (!PAGES.test(c.req.path) || !c.req.header('accept')?.includes('text/html')) {
    return refusedResponse(s, refused)
  }
  const { status, message } = refused
  return renderError(s, c, { status, message, headers: headersOf(refused) })
}
