/** A refusal of the service. */

/** In the service's words; `status` 0: no answer at all. */
export class ApiError extends Error {
  readonly status: number
  /** Seconds until another try makes sense; null when the service does not say. */
  readonly retryAfter: number | null
  constructor(status: number, message: string, retryAfter: number | null = null) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** `port must be …` as the field's name and what is wrong with it; null when the message names none of `fields`. */
export function splitByField(
  message: string,
  fields: readonly string[],
): { field: string; text: string } | null {
  const [first = '', ...rest] = message.split(' ')
  const name = first.split('.')[0] ?? ''
  return fields.includes(name) && rest.length > 0 ? { field: name, text: rest.join(' ') } : null
}
