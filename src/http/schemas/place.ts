/** Where what is granted or given away has its home. */
import * as v from 'valibot'
import { startSeconds } from '#db/values.ts'
import { plainText, timestamp } from '#src/lib/values.ts'

/** Of what is granted: a plan with a group needs no node. */
export const PLACE = { node: v.optional(plainText(64)), plan: plainText(64) }

/** When what is given begins: with its first use, from which on it lasts so long, or at the latest then. */
export const START = {
  start: v.optional(v.literal('first_use', 'must be first_use')),
  start_seconds: v.optional(startSeconds),
  start_by: v.optional(timestamp),
}

/** The same as the rules have it, out of a body. */
export function startOrder<T extends v.InferOutput<v.ObjectSchema<typeof START, undefined>>>(
  body: T,
) {
  const { start_seconds: startSeconds, start_by: startBy, ...rest } = body
  return { ...rest, startSeconds, startBy }
}

/** A body with these entries and `PLACE`. Where both are missing it is the node that is named, as it is where only that is. */
export function placed<const E extends v.ObjectEntries>(entries: E) {
  const body = v.object({ ...PLACE, ...entries })
  const withNode = v.object({ ...entries, ...PLACE, node: plainText(64) })
  const lacksPlan = (value: unknown) =>
    typeof value === 'object' && value !== null && !('plan' in value)
  const check: typeof body = {
    ...body,
    '~run': (dataset, config) =>
      (lacksPlan(dataset.value) ? withNode : body)['~run'](dataset, config) as ReturnType<
        (typeof body)['~run']
      >,
  }
  return check
}
