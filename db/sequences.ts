/** Numbers that count up: one that was given is not given again, also when what had it is gone. */

import { type Query, run } from './engine/database.ts'
import { eq, sql } from './engine/orm.ts'
import { sequences } from './schema/index.ts'

/** The numbers of customers below 0, without their sign. */
export const CUSTOMERS = 'customers'

/** The next number of this name, from 1. */
export function* nextOf(tx: Query, name: string) {
  const [row] = yield* run(
    tx
      .insert(sequences)
      .values({ name, last: 1 })
      .onConflictDoUpdate({ target: sequences.name, set: { last: sql`${sequences.last} + 1` } })
      .returning(),
  )
  return (row as { last: number }).last
}

/** Counts on from a number that was given past others. */
export function* countOnFrom(tx: Query, name: string, last: number) {
  yield* run(tx.update(sequences).set({ last }).where(eq(sequences.name, name)))
}
