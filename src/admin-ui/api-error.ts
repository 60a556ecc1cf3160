/** A refusal of the service. */

/** In the service's words; `status` 0: no answer at all. */
export class ApiError extends Error {
  readonly status: number
  /** By which the service declares it (src/refusals); null where it is none of the service's. */
  readonly code: string | null
  /** What was put into its sentence, by name; `field`: what it is about. */
  readonly values: Record<string, string>
  constructor(
    status: number,
    message: string,
    code: string | null = null,
    values: Record<string, string> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.values = values
  }
}

/**
 * `port must be …`, or `apps.7.port must be …`, as the field's name and what is wrong with it; null when the message names none
 * of `fields`. `at`: the place in the list that the field holds, of `ids.2 must be …`; else no number.
 */
export function splitByField(
  message: string,
  fields: readonly string[],
): { field: string; text: string; at: number } | null {
  const [first = '', ...rest] = message.split(' ')
  const path = first.split('.')
  const depth = path.findIndex((name) => fields.includes(name))
  const field = path[depth]
  if (field === undefined || rest.length === 0) return null
  return { field, text: rest.join(' '), at: Number(path[depth + 1]) }
}
