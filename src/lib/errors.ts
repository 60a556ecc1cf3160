/** The one kind of error that a caller may see, and the constructors that name its status. */

/** A refusal: `status` and `message` go out as they are; everything else that is thrown is a fault and answered 500. */
export class ApiError extends Error {
  readonly status: number
  readonly headers: Record<string, string>
  /** For a program that can do something about it. */
  readonly code: string | undefined

  constructor(
    status: number,
    message: string,
    headers: Record<string, string> = {},
    code?: string,
  ) {
    super(message)
    this.code = code
    this.name = 'ApiError'
    this.status = status
    this.headers = headers
  }
}

export const badRequest = (message: string) => new ApiError(400, message)
export const unauthorized = (message = 'unauthorized') => new ApiError(401, message)
export const forbidden = (message: string) => new ApiError(403, message)
export const notFound = (message = 'not found', headers?: Record<string, string>) =>
  new ApiError(404, message, headers)
/** What is left of the body is not waited for. */
const CLOSE = { Connection: 'close' }
export const tooLarge = () => new ApiError(413, 'request body too large', CLOSE)
export const tooSlow = () => new ApiError(408, 'the body took too long', CLOSE)

/** The client went away in the middle of its body: nobody gets this answer. */
export class CutOff extends ApiError {
  constructor() {
    super(400, 'the upload is cut off')
  }
}

export const tooMany = (retryAfterSeconds: number) =>
  new ApiError(429, 'too many attempts, try again later', {
    'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))),
  })
export const unavailable = (message: string, retryAfterSeconds = 5) =>
  new ApiError(503, message, { 'Retry-After': String(retryAfterSeconds) })

/** The first `code` found on an error or the errors that caused it (drivers wrap theirs). */
export function errorCode(error: unknown): string | undefined {
  let current: unknown = error
  for (let depth = 0; depth < 6 && current instanceof Error; depth++) {
    const code = (current as { code?: unknown }).code
    if (typeof code === 'string') return code
    current = current.cause
  }
  return undefined
}

/** A message fit for the log: never a stack, never more than 300 characters. */
export function errorMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.slice(0, 300)
}

/** A node program that gave no usable answer; `failure` says which kind, the message is fit for an operator. */
export class NodeError extends Error {
  readonly failure: string

  constructor(failure: string, message: string) {
    super(message)
    this.name = 'NodeError'
    this.failure = failure
  }
}
