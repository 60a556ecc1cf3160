/** Another link in place of one that others may know. */
import type { Query } from '#db/engine/database.ts'
import { readNodesOf } from '#db/node-groups.ts'
import type { User } from '#db/schema/index.ts'
import {
  listActiveOfUser,
  readUnexpiredOfUser,
  readUnrevokedOfUser,
  renameClient,
} from '#db/subscriptions.ts'
import { deleteOtherTokens, updateUser } from '#db/users.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { randomToken, randomUuid } from '#src/lib/random.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { countOwn } from './own-limits.ts'
import { type NodeClient, readKnownUser } from './users.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'nodeSync'>

/**
 * Gives each subscription of a user that is not revoked another client id: an expired one would come back with the old one. The clients
 * whose nodes must be told.
 */
function* renameClients(tx: Query, tgId: number, now: string) {
  const told = new Set((yield* readUnexpiredOfUser(tx, tgId, now)).map(({ uuid }) => uuid))
  const changed: NodeClient[] = []
  for (const row of yield* readUnrevokedOfUser(tx, tgId)) {
    const renamed = randomUuid()
    yield* renameClient(tx, row.uuid, renamed)
    if (told.has(row.uuid)) changed.push(row, { ...row, uuid: renamed })
  }
  return changed
}

/** How long is waited for nodes that are read before. */
const READ_MS = 1500

/** Counts what a customer has moved until now against quotas, and as the first use: their new clients count from 0. */
async function countUntilNow(s: Deps, tgId: number): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  const codes = await s.db.read(function* (q) {
    const found = new Set<string>()
    for (const row of yield* listActiveOfUser(q, tgId, now)) {
      if (row.quotaBytes === null && row.startBy === null) continue
      for (const { code } of yield* readNodesOf(q, row)) found.add(code)
    }
    return found
  })
  await Promise.all(Array.from(codes, (code) => s.nodeSync.readNode(code, READ_MS)))
}

interface Rotation {
  token: string
  now: string
  keepImported: boolean
}

function* rotateIn(tx: Query, actor: Actor, { tgId }: User, rotation: Rotation) {
  const { token, now, keepImported } = rotation
  yield* updateUser(tx, tgId, { token })
  yield* deleteOtherTokens(tx, tgId, keepImported)
  const clients = yield* renameClients(tx, tgId, now)
  yield* audit(tx, actor, now, { action: 'user.rotate-token', object: `${tgId}` })
  return { token, clients }
}

/**
 * Gives a user another link token and all that may be served again other client ids; the old links and the old clients stop at once,
 * of links that came from another panel only unless they are kept. The new token. Throws 404.
 */
export async function rotateToken(
  s: Deps,
  actor: Actor,
  number: number,
  keepImported = false,
): Promise<string> {
  await countUntilNow(s, (await s.db.read((q) => readKnownUser(q, number))).tgId)
  const rotation = { token: randomToken(), now: formatTimestamp(s.clock.now()), keepImported }
  const { token, clients } = await s.db.tx(function* (tx) {
    return yield* rotateIn(tx, actor, yield* readKnownUser(tx, number), rotation)
  })
  await s.nodeSync.touch(clients)
  return token
}

/**
 * The same for its owner, who replaces the link of the token `from`: the present token when that is another one by now. Throws 404, or 429
 * after 3 in 24 hours: each has clients renamed on their nodes.
 */
export async function resetOwnLink(
  s: Deps,
  actor: Actor,
  tgId: number,
  from: string,
): Promise<string> {
  const present = await s.db.read((q) => readKnownUser(q, tgId))
  if (present.token === from) await countUntilNow(s, present.tgId)
  const at = s.clock.now()
  const rotation = { token: randomToken(), now: formatTimestamp(at), keepImported: false }
  const { token, clients } = await s.db.tx(function* (tx) {
    const user = yield* readKnownUser(tx, tgId)
    if (user.token !== from) return { token: user.token, clients: [] }
    yield* updateUser(tx, user.tgId, { linkResets: countOwn(user.linkResets, at) })
    return yield* rotateIn(tx, actor, user, rotation)
  })
  await s.nodeSync.touch(clients)
  return token
}
