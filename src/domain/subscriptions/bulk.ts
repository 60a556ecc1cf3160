/** One action on many users, with an outcome for each. */

import type { Query } from '#db/engine/database.ts'
import { isPassing } from '#db/engine/failures.ts'
import { readUnexpiredOfUser } from '#db/subscriptions.ts'
import { readUser } from '#db/users.ts'
import type { Actor } from '#src/domain/audit.ts'
import { banIn, type NodeClient, readKnownUser } from '#src/domain/customers/users.ts'
import { type Moment, momentOf } from '#src/domain/quotas.ts'
import { ApiError } from '#src/lib/errors.ts'
import { nextTurn } from '#src/lib/event-loop.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { extendedExpiry, extendIn, regroupIn } from './expiry.ts'
import { requireGroup } from './homes.ts'
import { type GrantOrder, grantIn, readOffer } from './subscriptions.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config' | 'nodeSync'>

export type BulkAction =
  | ({ action: 'grant' } & GrantOrder)
  | { action: 'group'; nodeGroup: string | null }
  | { action: 'extend'; days: number }
  | { action: 'ban' | 'unban' }

export interface BulkOutcome {
  tgId: number
  /** Why nothing was done for this user; null when it was. */
  error: string | null
}

/**
 * A transaction for this many users: one for each would be a thousand waits for the disk, one for all would keep every request
 * and every other writer waiting until the last user is done.
 */
const CHUNK = 5

/** Lengthens all that a user has running or held; what has run out stays so: compensation is for those who lost time. */
function* extendAll(tx: Query, actor: Actor, at: Date, number: number, days: number) {
  const { tgId } = yield* readKnownUser(tx, number)
  const rows = yield* readUnexpiredOfUser(tx, tgId, formatTimestamp(at))
  if (rows.length === 0) throw refusal('no-unexpired-subscription')
  // All of them or none.
  for (const row of rows) extendedExpiry(row, at, days)
  for (const row of rows) yield* extendIn(tx, actor, at, row, days)
  return [] as NodeClient[]
}

/** Gives all that a user has running or held another group, or none: the clients whose nodes must be told. */
function* groupAll(tx: Query, actor: Actor, at: Date, number: number, nodeGroup: string | null) {
  const { tgId } = yield* readKnownUser(tx, number)
  const rows = yield* readUnexpiredOfUser(tx, tgId, formatTimestamp(at))
  if (rows.length === 0) throw refusal('no-unexpired-subscription')
  const clients: NodeClient[] = []
  for (const row of rows) clients.push(...(yield* regroupIn(tx, actor, at, row, nodeGroup)))
  return clients
}

/** What is done for one user: gives the clients whose nodes must be told. A refusal is thrown before anything of the user's is written. */
function* actionOf(tx: Query, actor: Actor, moment: Moment, bulk: BulkAction) {
  const { action } = bulk
  const { at } = moment
  if (action === 'extend') return (tgId: number) => extendAll(tx, actor, at, tgId, bulk.days)
  if (action === 'group') return (tgId: number) => groupAll(tx, actor, at, tgId, bulk.nodeGroup)
  if (action !== 'grant') {
    return (tgId: number) => banIn(tx, actor, formatTimestamp(at), tgId, action === 'ban')
  }
  const offer = yield* readOffer(tx, bulk, at)
  return function* (number: number) {
    return [(yield* grantIn(tx, actor, moment, number, offer)).row as NodeClient]
  }
}

/** `before`: for whom it was done already, by whichever of their numbers. */
function* actOnChunk(
  tx: Query,
  actor: Actor,
  moment: Moment,
  tgIds: number[],
  bulk: BulkAction,
  before: ReadonlySet<number>,
) {
  const act = yield* actionOf(tx, actor, moment, bulk)
  const outcomes: BulkOutcome[] = []
  const clients: NodeClient[] = []
  const done = new Set(before)
  for (const tgId of tgIds) {
    try {
      const number = (yield* readUser(tx, tgId))?.tgId ?? tgId
      if (!done.has(number)) clients.push(...(yield* act(number)))
      done.add(number)
      outcomes.push({ tgId, error: null })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      outcomes.push({ tgId, error: error.message })
    }
  }
  return { outcomes, clients, done }
}

const chunksOf = (tgIds: number[]) =>
  Array.from({ length: Math.ceil(tgIds.length / CHUNK) }, (_, i) =>
    tgIds.slice(i * CHUNK, (i + 1) * CHUNK),
  )

/** Why a whole transaction was not done. Throws what is a fault. */
function refusalOf(error: unknown): string {
  if (error instanceof ApiError) return error.message
  if (isPassing(error)) return 'not done: the database cannot be written now'
  throw error
}

/**
 * Does one thing for many users, each of them once however often they are named, in the order given. A user who is refused, or for
 * whom there was no room or no turn to write, gets the reason; the others are done. Their nodes are told together at the end.
 * Throws 400 when what is to be granted can't be.
 */
export async function actOnUsers(
  s: Deps,
  actor: Actor,
  tgIds: number[],
  bulk: BulkAction,
): Promise<BulkOutcome[]> {
  const moment = momentOf(s)
  if (bulk.action === 'grant') await s.db.read((q) => readOffer(q, bulk, moment.at))
  if (bulk.action === 'group') await s.db.read((q) => requireGroup(q, bulk.nodeGroup))
  const outcomes: BulkOutcome[] = []
  const clients: NodeClient[] = []
  let done: ReadonlySet<number> = new Set()
  for (const chunk of chunksOf([...new Set(tgIds)])) {
    try {
      const acted = await s.db.tx((tx) => actOnChunk(tx, actor, moment, chunk, bulk, done))
      outcomes.push(...acted.outcomes)
      clients.push(...acted.clients)
      done = acted.done
    } catch (error) {
      const reason = refusalOf(error)
      outcomes.push(...chunk.map((tgId) => ({ tgId, error: reason })))
    }
    // Other requests get their turn.
    await nextTurn()
  }
  await s.nodeSync.touch(clients)
  return outcomes
}
