/** The audit log: who changed what, from where; written by the transaction of the change. */

import { insertAudit } from '#db/audit-log.ts'
import type { Query } from '#db/engine/database.ts'

/** Who acts: an admin at an address, or null for the program itself. */
export interface Actor {
  admin: string | null
  ip: string
}

/** What a user does in the bot. */
export const BOT_ACTOR: Actor = { admin: null, ip: 'bot' }

/** Notes an action on an object. `detail` must hold no secret. */
export function* audit(
  tx: Query,
  actor: Actor,
  at: string,
  entry: { action: string; object?: string; detail?: string },
) {
  yield* insertAudit(tx, { at, ...actor, ...entry })
}
