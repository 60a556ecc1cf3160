/** A new order of all things of a kind. */
import { fieldRefusal } from '#src/refusals/index.ts'

/** Throws 400 unless `codes` names each of `present` exactly once. */
export function checkOrder(codes: string[], present: string[], what: 'node' | 'plan'): void {
  const known = new Set(present)
  const complete = codes.length === known.size && new Set(codes).size === codes.length
  if (!complete || !codes.every((code) => known.has(code))) {
    throw fieldRefusal('codes', 'not-each-code-once', { kind: what })
  }
}
