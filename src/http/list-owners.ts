/**
 * Whose lists are asked for. Where the database is on a server, who was asked for last is remembered for the time in which it can't be reached
 * (STALE_LISTS_MB): their lists are then written from that, as they would be now.
 */
import type { MaybePromise } from '#db/engine/database.ts'
import { isAway } from '#db/engine/failures.ts'
import { findListOwner, type ListOwner } from '#db/users.ts'
import { inTime } from '#src/lib/pause.ts'
import { DAY_MS, formatTimestamp, SECOND_MS } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

export interface FoundOwner extends ListOwner {
  /** How long ago this was read, in whole seconds, where the database could not be asked. */
  staleSeconds?: number
}

/** The owner of a present link, with the device that asks; undefined where there is none. */
export type FindOwner = (
  token: string,
  hwid: string,
  now: Date,
) => MaybePromise<FoundOwner | undefined>

interface Kept {
  owner: ListOwner
  /** The registered devices that have asked. */
  devices: Map<string, Pick<ListOwner, 'deviceId' | 'deviceSeenAt'>>
  bytes: number
  readAtMs: number
}

/** Who is remembered gets no longer wait than this, from a server that is frozen. */
const PATIENCE_MS = 1500
/** While it is away one request in so long asks it again. */
const PROBE_MS = 1000
/** Apps fetch at least so often: who has not come for longer is nobody's customer any more. */
const LONGEST_MS = DAY_MS

/** What they take in memory, at about. */
const OWNER_BYTES = 600
const SUBSCRIPTION_BYTES = 300
const DEVICE_BYTES = 250
/** Of one customer; more are not remembered. */
const MOST_DEVICES = 20

const LATE = Symbol('late')

/** A memory of at most `most` bytes, of whoever came last. */
function createMemory(most: number, revision: () => number) {
  const kept = new Map<string, Kept>()
  let bytes = 0
  const forget = (token: string) => {
    bytes -= kept.get(token)?.bytes ?? 0
    kept.delete(token)
  }
  return {
    forget,
    keep(token: string, hwid: string, owner: ListOwner, nowMs: number) {
      const devices = kept.get(token)?.devices ?? new Map()
      const { deviceId, deviceSeenAt, subscriptions } = owner
      if (deviceId === null) devices.delete(hwid)
      else if (devices.size < MOST_DEVICES) devices.set(hwid, { deviceId, deviceSeenAt })
      forget(token)
      const own =
        OWNER_BYTES + SUBSCRIPTION_BYTES * subscriptions.length + DEVICE_BYTES * devices.size
      kept.set(token, { owner, devices, bytes: own, readAtMs: nowMs })
      bytes += own
      for (const oldest of kept.keys()) {
        if (bytes <= most) break
        forget(oldest)
      }
    },
    /** What of them is still so. */
    recall(token: string, hwid: string, now: Date): FoundOwner | undefined {
      const known = kept.get(token)
      if (known === undefined || now.getTime() - known.readAtMs > LONGEST_MS) return undefined
      const { owner, devices, readAtMs } = known
      const at = formatTimestamp(now)
      return {
        ...owner,
        ...(devices.get(hwid) ?? { deviceId: null, deviceSeenAt: null }),
        lists: revision(),
        subscriptions: owner.subscriptions.filter(({ expiresAt }) => expiresAt > at),
        staleSeconds: Math.max(0, Math.floor((now.getTime() - readAtMs) / SECOND_MS)),
      }
    },
  }
}

type Deps = Pick<Services, 'config' | 'db' | 'clock'>

/** Finds owners, and remembers them where that is wanted. */
export function createFindOwner({ config, db, clock }: Deps): FindOwner {
  const find: FindOwner = (token, hwid, now) => findListOwner(db, token, hwid, formatTimestamp(now))
  // A file is always there.
  if (config.databaseUrl === null || config.staleListsBytes === 0) return find
  const memory = createMemory(config.staleListsBytes, () => db.revision())
  /** When the server is asked again, by the monotonic clock; null while it answers. */
  let probeAtMs: number | null = null

  const noteAway = () => {
    probeAtMs = clock.monotonicMs() + PROBE_MS
  }
  const noteAnswer = (token: string, hwid: string, owner: ListOwner | undefined, now: Date) => {
    probeAtMs = null
    if (owner) memory.keep(token, hwid, owner, now.getTime())
    else memory.forget(token)
    return owner
  }
  /** Whether this request is spared the wait for a server that was away a moment ago. */
  const isSpared = () => {
    if (probeAtMs === null) return false
    if (clock.monotonicMs() < probeAtMs) return true
    // This one asks, the others go on without.
    noteAway()
    return false
  }
  async function ask(token: string, hwid: string, now: Date, known: FoundOwner | undefined) {
    const asked = Promise.resolve(find(token, hwid, now)).then((owner) =>
      noteAnswer(token, hwid, owner, now),
    )
    try {
      if (known === undefined) return await asked
      const owner = await inTime<ListOwner | undefined | typeof LATE>(asked, PATIENCE_MS, LATE)
      if (owner !== LATE) return owner
      // What comes of it is noted, or not.
      asked.catch(() => {})
    } catch (error) {
      if (known === undefined || !isAway(error)) throw error
    }
    noteAway()
    return known
  }
  return (token, hwid, now) => {
    const known = memory.recall(token, hwid, now)
    return known && isSpared() ? known : ask(token, hwid, now, known)
  }
}
