/** Servers of deleted nodes: nobody is to get in there any more, so each is cleaned as soon as it can be reached. */

import { findAddOnlyNodes } from '#db/add-only-nodes.ts'
import type { Query } from '#db/engine/database.ts'
import {
  deleteRetired,
  insertRetired,
  listRetiredDue,
  putRetiredTry,
  readManaged,
} from '#db/retired-nodes.ts'
import type { Node, RetiredNode } from '#db/schema/index.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import { NodeError } from '#src/lib/errors.ts'
import { splitHostKeys } from '#src/lib/host-key.ts'
import {
  DAY_MS,
  formatTimestamp,
  HOUR_MS,
  later,
  MINUTE_MS,
  parseTimestamp,
  SECOND_MS,
} from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config' | 'log' | 'cores' | 'instanceId'>

const RETIRE_MS = 20 * SECOND_MS
const FIRST_MS = 5 * SECOND_MS
const LONGEST_MS = HOUR_MS
const GIVE_UP_MS = 30 * DAY_MS
/** How long is waited for a server at the same address that is being set up. */
const POSTPONE_MS = 5 * MINUTE_MS

const RETIRING: Actor = { admin: null, ip: 'scheduler' }

/** Remembers the server of a node that is being deleted, if it was ever one of ours. */
export function* retireIn(tx: Query, node: Node, now: string) {
  if (node.kind !== 'managed') return
  if (node.hostKey === null && node.lastSeenAt === null) return
  const { code, address, sshPort, sshUser, hostKey } = node
  const row = { code, address, sshPort, sshUser, hostKey, createdAt: now, nextTryAt: now }
  yield* insertRetired(tx, row)
}

const objectOf = (row: RetiredNode, detail = '') => ({
  object: row.code,
  detail: `address=${row.address} ssh_port=${row.sshPort}${detail}`,
})

/**
 * Whether a server is to be cleaned now: not where a node is again, which ends the matter, nor while one may be set up there, by an
 * address that it shares.
 */
function* mayClean(tx: Query, row: RetiredNode, at: Date) {
  const managed = yield* readManaged(tx)
  const here = managed.filter(({ address }) => address === row.address)
  const keys = splitHostKeys(row.hostKey)
  // The same server may be here by another name, or another port of its sshd: its keys tell.
  const isSame = (node: (typeof managed)[number]) =>
    (node.address === row.address && node.sshPort === row.sshPort) ||
    splitHostKeys(node.hostKey).some((key) => keys.includes(key))
  const again = managed.find((node) => node.status === 'active' && isSame(node))
  if (again) {
    yield* deleteRetired(tx, row)
    const entry = objectOf(row, ` node=${again.code}`)
    yield* audit(tx, RETIRING, formatTimestamp(at), { action: 'node.retire-cancel', ...entry })
    return false
  }
  if (here.every(({ status }) => status === 'active')) return true
  const nextTryAt = formatTimestamp(later(at, POSTPONE_MS))
  yield* putRetiredTry(tx, row, { ...row, nextTryAt })
  return false
}

/** Why the server could not be cleaned; null when it is, or is another panel's by now. */
async function clean(s: Deps, row: RetiredNode): Promise<string | null> {
  try {
    await s.cores.retired(row).retire(s.instanceId(), RETIRE_MS)
    return null
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    return error.failure === 'owner' ? null : error.message
  }
}

/** Notes that a server could not be cleaned; after 30 days it is left alone, and the admins are told. */
function* noteFailure(tx: Query, s: Deps, row: RetiredNode, at: Date, reason: string) {
  const now = formatTimestamp(at)
  const ageMs = at.getTime() - parseTimestamp(row.createdAt).getTime()
  if (ageMs < GIVE_UP_MS) {
    const waitMs = Math.min(FIRST_MS * 2 ** Math.min(row.tries, 20), LONGEST_MS)
    const nextTryAt = formatTimestamp(later(at, waitMs))
    yield* putRetiredTry(tx, row, { tries: row.tries + 1, nextTryAt, lastError: reason })
    return
  }
  if (!(yield* deleteRetired(tx, row))) return
  yield* audit(tx, RETIRING, now, { action: 'node.retire-fail', ...objectOf(row) })
  yield* alert(tx, s, now, { about: 'server-not-cleaned', node: row.code, address: row.address })
}

async function retire(s: Deps, row: RetiredNode): Promise<void> {
  const at = s.clock.now()
  if (!(await s.db.tx((tx) => mayClean(tx, row, at)))) return
  const reason = await clean(s, row)
  if (reason !== null) {
    if (row.tries === 0) {
      s.log.warn('the server of a deleted node is not cleaned yet', { node: row.code, reason })
    }
    await s.db.tx((tx) => noteFailure(tx, s, row, s.clock.now(), reason))
    return
  }
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    if (!(yield* deleteRetired(tx, row))) return
    yield* audit(tx, RETIRING, now, { action: 'node.retire', ...objectOf(row) })
  })
}

/**
 * Cleans the servers of deleted nodes that are due. Not between a restore and the admin's `force`: a server that the backup knows as
 * deleted may be somebody's node by now.
 */
export async function cleanRetiredNodes(s: Deps): Promise<void> {
  const due = await s.db.read((q) => listRetiredDue(q, formatTimestamp(s.clock.now())))
  if (due.length === 0 || (await s.db.scan(findAddOnlyNodes))) return
  await Promise.all(due.map((row) => retire(s, row)))
}
