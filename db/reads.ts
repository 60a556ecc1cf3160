/**
 * The reads that grow with the shop: listings with their counts, statistics. Their process asks them in a thread of its own
 * (integrations/read-thread.ts), so a question is a name, arguments and an answer that can be sent from one thread to another.
 */

import { listAudit } from './audit-log.ts'
import type { Database, Reading, Steps } from './engine/database.ts'
import { listEvents } from './events.ts'
import { listGifts } from './gifts.ts'
import { countOnline } from './node-live.ts'
import { listPayments } from './payment-listing.ts'
import { countActive, countAll, countDays } from './stats.ts'
import { listSubscriptions } from './subscription-listing.ts'
import { reportTraffic } from './traffic.ts'
import { listUsers, readUsers } from './user-listing.ts'

const READS = {
  users: listUsers,
  /** Without their count. */
  usersAlone: readUsers,
  subscriptions: listSubscriptions,
  payments: listPayments,
  gifts: listGifts,
  events: listEvents,
  audit: listAudit,
  traffic: reportTraffic,
  counts: countAll,
  days: countDays,
  active: countActive,
  online: countOnline,
}

type Reads = typeof READS
export type ReadName = keyof Reads
type Inputs = {
  [K in ReadName]: Reads[K] extends (q: Reading, ...input: infer Input) => unknown ? Input : never
}
export type ReadInput<K extends ReadName> = Inputs[K]
export type ReadResult<K extends ReadName> = ReturnType<Reads[K]> extends Steps<infer T> ? T : never

/** Asks a read of this database in the thread of the caller. */
export function read<K extends ReadName>(
  db: Pick<Database, 'read'>,
  name: K,
  ...input: ReadInput<K>
): Promise<ReadResult<K>> {
  const ask = READS[name] as unknown as (q: Reading, ...input: ReadInput<K>) => Steps<ReadResult<K>>
  return db.read((q) => ask(q, ...input))
}
