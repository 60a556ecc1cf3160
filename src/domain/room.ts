/** How many there may be of what every pass goes through. */
import type { Query } from '#db/engine/database.ts'
import { isFull, MOST_ROWS } from '#db/listing.ts'
import { refusal } from '#src/refusals/index.ts'

/** Throws 400 where there are as many as there may be. */
export function* requireRoom(tx: Query, table: keyof typeof MOST_ROWS) {
  if (yield* isFull(tx, table))
    throw refusal('too-many-rows', { most: MOST_ROWS[table], kind: table })
}
