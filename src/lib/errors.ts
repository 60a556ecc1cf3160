/** The one kind of error that a caller may see. Refusals are declared in src/refusals and made there by their names. */

interface Details {
  /** What programs know a refusal by; undefined: it is not declared (src/refusals). */
  code?: string | undefined
  /** What was put into the sentence of its declaration, by name. */
  values?: Record<string, string>
  headers?: Record<string, string>
}

/** A refusal: `status` and `message` go out as they are; everything else that is thrown is a fault and answered 500. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string | undefined
  readonly values: Record<string, string>
  readonly headers: Record<string, string>

  constructor(status: number, message: string, { code, values = {}, headers = {} }: Details = {}) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.values = values
    this.headers = headers
  }

  /** The same refusal with further headers, or another status than it is declared with. */
  with({ status = this.status, headers = {} }: Pick<Details, 'headers'> & { status?: number }) {
    const { message, code, values } = this
    return new ApiError(status, message, { code, values, headers: { ...this.headers, ...headers } })
  }

  /** The same, with the seconds to wait before another try. */
  after(seconds: number): ApiError {
    return this.with({ headers: { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) } })
  }
}

// Those of the libraries; as they are declared in src/refusals, which a test compares.

/** What is left of the body is not waited for. */
const CLOSE = { Connection: 'close' }
export const tooLarge = () =>
  new ApiError(413, 'request body too large', { code: 'body-too-large', headers: CLOSE })
export const tooSlow = () =>
  new ApiError(408, 'the body took too long', { code: 'body-too-slow', headers: CLOSE })

/** The client went away in the middle of its body: nobody gets this answer. */
export class CutOff extends ApiError {
  constructor() {
    super(400, 'the upload is cut off', { code: 'upload-cut-off' })
  }
}

export const tooMany = (retryAfterSeconds: number) =>
  new ApiError(429, 'too many attempts, try again later', { code: 'too-many-attempts' }).after(
    retryAfterSeconds,
  )

/** How long who meets a want that passes is to wait. */
export const BUSY_SECONDS = 5
export const tooBusy = () =>
  new ApiError(503, 'too busy, try again', { code: 'too-busy' }).after(BUSY_SECONDS)
/** Large bodies take all the memory that there is for them. */
export const tooManyBodies = () => tooBusy().with({ headers: CLOSE })

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
