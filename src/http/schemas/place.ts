/** Where what is granted or given away has its home. */
import * as v from 'valibot'
import { plainText } from '#src/lib/values.ts'

/** Of what is granted: a plan with a group needs no node. */
export const PLACE = { node: v.optional(plainText(64)), plan: plainText(64) }

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
