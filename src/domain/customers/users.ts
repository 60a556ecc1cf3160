/** Users as an admin manages them: note, ban, another link, deletion. Each one transaction, then their nodes. */
import type { Query } from '#db/database.ts'
import { readUnexpiredOfUser, renameClient } from '#db/subscriptions.ts'
import { countPendingOfUser, deleteUser, readUser, updateUser } from '#db/users.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { PENDING_PAYMENT_MS } from '#src/domain/pending-payments.ts'
import { badRequest, notFound } from '#src/lib/errors.ts'
import { randomToken, randomUuid } from '#src/lib/random.ts'
import { formatTimestamp, timestampBefore } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'nodeSync'>

/** A client and the node that must be told of it. */
export interface NodeClient {
  uuid: string
  node: string
}

function* readKnownUser(tx: Query, tgId: number) {
  const user = yield* readUser(tx, tgId)
  if (!user) throw notFound('user not found')
  return user
}

/**
 * Bans a user or lifts their ban; the clients whose nodes must be told, none when the user already is as asked. What they have stays: a
 * banned user's list is empty, and their clients are off the nodes until the ban ends. Throws 404, before it writes.
 */
export function* banIn(tx: Query, actor: Actor, now: string, tgId: number, banned: boolean) {
  const user = yield* readKnownUser(tx, tgId)
  if ((user.bannedAt !== null) === banned) return []
  yield* updateUser(tx, tgId, { bannedAt: banned ? now : null })
  yield* audit(tx, actor, now, { action: banned ? 'user.ban' : 'user.unban', object: `${tgId}` })
  return (yield* readUnexpiredOfUser(tx, tgId, now)) as NodeClient[]
}

/** Changes a user's note and whether they are banned; what is undefined stays. Throws 404. */
export async function editUser(
  s: Deps,
  actor: Actor,
  tgId: number,
  changes: { note?: string | null | undefined; banned?: boolean | undefined },
): Promise<void> {
  const { note, banned } = changes
  const now = formatTimestamp(s.clock.now())
  const clients = await s.db.tx(function* (tx) {
    const user = yield* readKnownUser(tx, tgId)
    if (note !== undefined && note !== user.note) {
      yield* updateUser(tx, tgId, { note })
      yield* audit(tx, actor, now, { action: 'user.edit', object: `${tgId}`, detail: 'note' })
    }
    return banned === undefined ? [] : yield* banIn(tx, actor, now, tgId, banned)
  })
  await s.nodeSync.touch(clients)
}

/**
 * Deletes a user with their subscriptions, devices and undelivered messages, and removes their clients. The payments stay, marked.
 * Throws 404, or 400 while they may be paying: a payment younger than 48 hours is pending.
 */
export async function removeUser(s: Deps, actor: Actor, tgId: number): Promise<void> {
  const at = s.clock.now()
  const now = formatTimestamp(at)
  const clients = await s.db.tx(function* (tx) {
    yield* readKnownUser(tx, tgId)
    if ((yield* countPendingOfUser(tx, tgId, timestampBefore(at, PENDING_PAYMENT_MS))) > 0) {
      throw badRequest('user has pending payments')
    }
    const served: NodeClient[] = yield* readUnexpiredOfUser(tx, tgId, now)
    yield* deleteUser(tx, tgId)
    yield* audit(tx, actor, now, { action: 'user.delete', object: `${tgId}` })
    return served
  })
  await s.nodeSync.touch(clients)
}

/**
 * Gives a user another link token and each of their unexpired subscriptions another client id; the old link and the old clients
 * stop at once. The new token; the present one when it is not `from` any more. Throws 404.
 */
export async function rotateToken(
  s: Deps,
  actor: Actor,
  tgId: number,
  from?: string,
): Promise<string> {
  const now = formatTimestamp(s.clock.now())
  const next = randomToken()
  const { token, clients } = await s.db.tx(function* (tx) {
    const user = yield* readKnownUser(tx, tgId)
    const none: NodeClient[] = []
    if (from !== undefined && from !== user.token) return { token: user.token, clients: none }
    const token = next
    yield* updateUser(tx, tgId, { token })
    const changed: NodeClient[] = []
    for (const { uuid, node } of yield* readUnexpiredOfUser(tx, tgId, now)) {
      const renamed = randomUuid()
      yield* renameClient(tx, uuid, renamed)
      changed.push({ uuid, node }, { uuid: renamed, node })
    }
    yield* audit(tx, actor, now, { action: 'user.rotate-token', object: `${tgId}` })
    return { token, clients: changed }
  })
  await s.nodeSync.touch(clients)
  return token
}
