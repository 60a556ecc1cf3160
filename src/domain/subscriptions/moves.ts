/** Subscriptions that go from one node to another, with the same client and the same time. */

import { beginAudit, continueAudit } from '#db/audit-log.ts'
import type { Query } from '#db/engine/database.ts'
import { hasTwoLocal } from '#db/node-groups.ts'
import { readNode } from '#db/nodes.ts'
import { moveSubscriptions, type Place } from '#db/subscriptions.ts'
import type { Actor } from '#src/domain/audit.ts'
import type { NodeClient } from '#src/domain/customers/users.ts'
import { nextTurn } from '#src/lib/event-loop.ts'
import { formatTimestamp, SECOND_MS } from '#src/lib/time.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { RUNNING, subscriptionState } from './subscriptions.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'nodeSync' | 'background'>

/** How long an admin waits in all for the nodes; the sync goes on. */
export const TOUCH_MS = 5 * SECOND_MS
const READ_MS = 1500

/** Counts what nodes have moved until now: what they report later of who has left them is not counted. */
export async function readBeforeMove(s: Pick<Services, 'nodeSync'>, left: string[]): Promise<void> {
  await Promise.all(left.map((node) => s.nodeSync.readNode(node, READ_MS)))
}

/** Throws 404, or 400 where nothing can be moved to. */
function* checkMove(tx: Query, code: string, to: string) {
  if (!(yield* readNode(tx, code))) throw refusal('node-not-found')
  if (code === to) throw fieldRefusal('to', 'same-node')
  const home = yield* readNode(tx, to)
  if (!home) throw refusal('unknown-node')
  if (home.kind === 'local' && (yield* hasTwoLocal(tx, code, to))) throw refusal('one-local-node')
}

/** Subscriptions that are moved in one transaction: each costs 0.1 ms, in which nobody else is answered. */
const PORTION = 12
/** So many that were moved are told to their nodes together. */
const TOLD = 5000

interface Move {
  from: string
  to: string
  actor: Actor
  /** The beginning. */
  at: string
}

/** How far a move has got. */
interface Progress {
  count: number
  /** Its one entry in the audit log, which says with each portion how many were moved until then. */
  entry: number
  next: Place | null
}

/** Moves one portion more; also gives the clients that go with it. */
function* movePortion(tx: Query, { from, to, actor, at }: Move, before: Progress | null) {
  yield* checkMove(tx, from, to)
  const { moved, next } = yield* moveSubscriptions(tx, { from, to }, before?.next ?? null, PORTION)
  const count = (before?.count ?? 0) + moved.length
  const detail = `to=${to} moved=${count}`
  const action = { action: 'node.move', object: from, detail }
  const entry = before?.entry ?? (yield* beginAudit(tx, { at, ...actor, ...action }))
  if (before) yield* continueAudit(tx, entry, detail)
  const clients = moved.flatMap((row): NodeClient[] =>
    RUNNING.has(subscriptionState(row, at))
      ? [
          // Where its group serves it nothing changes.
          { uuid: row.uuid, node: from, nodeGroup: null },
          { uuid: row.uuid, node: to, nodeGroup: null },
        ]
      : [],
  )
  return { progress: { count, entry, next }, moved: clients }
}

/**
 * Moves all unrevoked subscriptions of a node to another one, expired and held ones among them, and pending payments for their
 * renewal; how many they were. A large node is moved in portions, so what fails on the way leaves some moved, and the same again goes
 * on from there. Throws 404, or 400 when the other node is none.
 */
export async function moveNode(s: Deps, actor: Actor, from: string, to: string): Promise<number> {
  const startedMs = s.clock.monotonicMs()
  await s.db.tx((tx) => checkMove(tx, from, to))
  await readBeforeMove(s, [from])
  const move: Move = { from, to, actor, at: formatTimestamp(s.clock.now()) }
  let clients: NodeClient[] = []
  const tellNodes = () => {
    const told = clients
    clients = []
    const leftMs = TOUCH_MS - (s.clock.monotonicMs() - startedMs)
    return s.nodeSync.touch(told, Math.max(0, leftMs))
  }
  const goOn = async (before: Progress | null): Promise<Progress> => {
    const { progress, moved } = await s.db.tx((tx) => movePortion(tx, move, before))
    clients.push(...moved)
    if (clients.length >= TOLD) s.background.run('moved clients', tellNodes)
    // Quick transactions share a turn of the loop.
    await nextTurn()
    return progress
  }
  try {
    let progress = await goOn(null)
    while (progress.next) progress = await goOn(progress)
    return progress.count
  } finally {
    await tellNodes()
  }
}
