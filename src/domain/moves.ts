/** Subscriptions that go from one node to another, with the same client and the same time. */
import { readNode } from '#db/nodes.ts'
import type { Query } from '#db/open.ts'
import { moveSubscriptions } from '#db/subscriptions.ts'
import { badRequest, notFound } from '#src/lib/errors.ts'
import { formatTimestamp, SECOND_MS } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { type Actor, audit } from './audit.ts'
import { subscriptionState } from './subscriptions.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'nodeSync'>

/** How long an admin waits in all for the nodes; the sync goes on. */
export const TOUCH_MS = 5 * SECOND_MS
const READ_MS = 1500

/** Counts what a node has moved until now: what it reports later of who has left it is not counted. */
export async function readBeforeMove(s: Pick<Services, 'nodeSync'>, node: string): Promise<void> {
  await s.nodeSync.readNode(node, READ_MS)
}

/** Throws 404, or 400 where nothing can be moved to. */
function* checkMove(tx: Query, code: string, to: string) {
  if (!(yield* readNode(tx, code))) throw notFound('node not found')
  if (code === to) throw badRequest('to must be another node')
  if (!(yield* readNode(tx, to))) throw badRequest('unknown node')
}

/**
 * Moves all unrevoked subscriptions of a node to another one, expired and held ones among them, and pending payments for their
 * renewal; how many they were. Throws 404, or 400 when the other node is none.
 */
export async function moveNode(s: Deps, actor: Actor, code: string, to: string): Promise<number> {
  const startedMs = s.clock.monotonicMs()
  await s.db.tx((tx) => checkMove(tx, code, to))
  await readBeforeMove(s, code)
  const now = formatTimestamp(s.clock.now())
  const moved = await s.db.tx(function* (tx) {
    yield* checkMove(tx, code, to)
    const rows = yield* moveSubscriptions(tx, code, to)
    yield* audit(tx, actor, now, {
      action: 'node.move',
      object: code,
      detail: `to=${to} moved=${rows.length}`,
    })
    return rows
  })
  const clients = moved
    .filter((row) => subscriptionState(row, now) === 'active')
    .flatMap(({ uuid }) => [
      { uuid, node: code },
      { uuid, node: to },
    ])
  await s.nodeSync.touch(clients, TOUCH_MS - (s.clock.monotonicMs() - startedMs))
  return moved.length
}
