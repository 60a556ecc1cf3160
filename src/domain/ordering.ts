/** A new order of all things of a kind. */
import { fieldRefusal } from '#src/refusals/index.ts'

/** Throws 400 unless `given` names each of `present` exactly once. `field`: as the request has it. */
export function checkOrder<Key extends string | number>(
  given: Key[],
  present: Key[],
  what: 'node' | 'plan' | 'pack' | 'host',
  field = 'codes',
): void {
  const known = new Set(present)
  const complete = given.length === known.size && new Set(given).size === given.length
  if (!complete || !given.every((key) => known.has(key))) {
    throw fieldRefusal(field, 'not-each-code-once', { kind: what })
  }
}
