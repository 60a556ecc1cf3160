/**
 * The Bot API for the bot: grammY as `grammy/web`, whose fetch and AbortSignal are the runtime's own (imported as `grammy` its
 * polyfills hang on Node), at the operator's address, with answers of bounded size.
 */
import { type Api, type ApiClientOptions, GrammyError, HttpError } from 'grammy/web'
import { botApiUrl } from '#src/lib/bot-api-url.ts'
import { errorCode, errorMessage } from '#src/lib/errors.ts'
import { readAtMost } from '#src/lib/read-at-most.ts'
import { SECOND_MS } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

/** A hundred updates with the longest texts and their keyboards are a few megabytes. */
const ANSWER_LIMIT_BYTES = 8 * 1024 ** 2

const fetchAnswer: typeof fetch = Object.assign(
  async (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
    const response = await fetch(input, { ...init, redirect: 'manual' })
    const bytes = await readAtMost(response.body, ANSWER_LIMIT_BYTES)
    if (!bytes) throw new Error('the answer is too long')
    if (response.status >= 300 && response.status < 400) throw new Error('the answer is a redirect')
    return new Response(bytes as BodyInit)
  },
  { preconnect: () => {} },
)

/** How grammY reaches the Bot API; a call takes at most `timeoutSeconds`. */
export const apiOptions = (
  { config }: Pick<Services, 'config'>,
  timeoutSeconds: number,
): ApiClientOptions => ({
  apiRoot: config.telegramApiUrl,
  buildUrl: botApiUrl,
  fetch: fetchAnswer as NonNullable<ApiClientOptions['fetch']>,
  timeoutSeconds,
})

/** What went wrong, fit for the log: no address, no token, no text of a message. */
export function describeFault(error: unknown): string {
  if (error instanceof GrammyError) {
    // Telegram quotes what it can't parse.
    const words = error.description?.replace(/"[^"]*"|'[^']*'/g, '…').slice(0, 150)
    return `${error.method}: ${error.error_code} ${words}`
  }
  if (!(error instanceof HttpError)) return errorMessage(error)
  const cause = error.error
  return `${error.message} ${errorCode(cause) ?? (cause instanceof Error ? cause.name : '')}`.trim()
}

/** grammY's type of signals is a polyfill's, which is not used here. */
type Signal = NonNullable<Parameters<Api['getMe']>[0]>

export const signalOf = (signal: AbortSignal) => signal as unknown as Signal

const BRIEF_MS = 10 * SECOND_MS

/** For a call that is answered at once or never: ends with `signal`, or after 10 s. */
export const briefly = (signal: AbortSignal): Signal =>
  signalOf(AbortSignal.any([signal, AbortSignal.timeout(BRIEF_MS)]))
