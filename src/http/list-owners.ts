/**
 * Whose lists are asked for. Where the database is on a server, who was asked for last is remembered for the time in which it can't be reached
 * (STALE_LISTS_MB): their lists are then written from that. Pages are not: they ask the database for more.
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

interface Device extends Pick<ListOwner, 'deviceId' | 'deviceSeenAt'> {
  readAtMs: number
}

interface Kept {
  owner: ListOwner
  /** The registered ones that have asked, the latest last. */
  devices: Map<string, Device>
  bytes: number
  readAtMs: number
}

/** Who is remembered waits no longer than this for a server that is slow, or frozen. */
const PATIENCE_MS = 1500
/** While it is away one request in so long asks it again. */
const PROBE_MS = 1000
/** Apps fetch at least so often: who has not come for longer is nobody's customer any more. */
const LONGEST_MS = DAY_MS

/** What they take in memory, at about. */
const OWNER_BYTES = 600
const SUBSCRIPTION_BYTES = 300
const DEVICE_BYTES = 250
/** Of one customer. */
const MOST_DEVICES = 20
/** What is left of a full memory: to make room for one at a time costs more, the larger it is. */
const LEFT = 0.95

const LATE = Symbol('late')

const firstOf = <K>(map: ReadonlyMap<K, unknown>): K | undefined => map.keys().next().value

/** A memory of at most `most` bytes, of whoever came last. */
function createMemory(most: number, revision: () => number) {
  const kept = new Map<string, Kept>()
  let bytes = 0
  const forget = (token: string) => {
    bytes -= kept.get(token)?.bytes ?? 0
    kept.delete(token)
  }
  const makeRoom = () => {
    if (bytes <= most) return
    for (const oldest of kept.keys()) {
      if (bytes <= most * LEFT) return
      forget(oldest)
    }
  }
  const noteDevice = (devices: Kept['devices'], hwid: string, owner: ListOwner, nowMs: number) => {
    const { deviceId, deviceSeenAt } = owner
    devices.delete(hwid)
    if (deviceId === null) return
    devices.set(hwid, { deviceId, deviceSeenAt, readAtMs: nowMs })
    if (devices.size > MOST_DEVICES) devices.delete(firstOf(devices) as string)
  }
  return {
    forget,
    keep(token: string, hwid: string, owner: ListOwner, nowMs: number) {
      const devices = kept.get(token)?.devices ?? new Map()
      const count = owner.subscriptions.length
      forget(token)
      // Who has nothing now may have something by then: an app that got an empty list would give up what it has.
      if (count === 0) return
      noteDevice(devices, hwid, owner, nowMs)
      const own = OWNER_BYTES + SUBSCRIPTION_BYTES * count + DEVICE_BYTES * devices.size
      kept.set(token, { owner, devices, bytes: own, readAtMs: nowMs })
      bytes += own
      makeRoom()
    },
    /** As it was, with the device that asks; undefined where it may be another by now: an end may have been put off. */
    recall(token: string, hwid: string, now: Date): FoundOwner | undefined {
      const known = kept.get(token)
      const isOld = (readAtMs: number) => now.getTime() - readAtMs > LONGEST_MS
      if (known === undefined || isOld(known.readAtMs)) return undefined
      const { owner, devices, readAtMs } = known
      const at = formatTimestamp(now)
      if (owner.subscriptions.some(({ expiresAt }) => expiresAt <= at)) return undefined
      const device = devices.get(hwid)
      const isKnown = device !== undefined && !isOld(device.readAtMs)
      return {
        ...owner,
        deviceId: isKnown ? device.deviceId : null,
        deviceSeenAt: isKnown ? device.deviceSeenAt : null,
        lists: revision(),
        staleSeconds: Math.max(0, Math.floor((now.getTime() - readAtMs) / SECOND_MS)),
      }
    },
  }
}

type Deps = Pick<Services, 'config' | 'db' | 'clock'>

/** Asks the database, whatever is remembered. */
export const askOwner =
  ({ db }: Pick<Deps, 'db'>): FindOwner =>
  (token, hwid, now) =>
    findListOwner(db, token, hwid, formatTimestamp(now))

/** Finds owners, and remembers them where that is wanted. */
export function createFindOwner({ config, db, clock }: Deps): FindOwner {
  const find = askOwner({ db })
  // A file is always there.
  if (config.databaseUrl === null || config.staleListsBytes === 0) return find
  const memory = createMemory(config.staleListsBytes, () => db.revision())
  /** When the server is asked again, by the monotonic clock; null while it answers. */
  let probeAtMs: number | null = null

  const noteAway = () => {
    probeAtMs = clock.monotonicMs() + PROBE_MS
  }
  /** Whether this request is spared the wait for a server that was away a moment ago. */
  const isSpared = () => {
    if (probeAtMs === null) return false
    if (clock.monotonicMs() < probeAtMs) return true
    // This one asks, the others go on without.
    noteAway()
    return false
  }
  async function ask(token: string, hwid: string, now: Date): Promise<ListOwner | undefined> {
    try {
      const owner = await find(token, hwid, now)
      probeAtMs = null
      if (owner) memory.keep(token, hwid, owner, now.getTime())
      else memory.forget(token)
      return owner
    } catch (error) {
      if (isAway(error)) noteAway()
      throw error
    }
  }
  async function askOr(known: FoundOwner, asked: Promise<ListOwner | undefined>) {
    try {
      const owner = await inTime<ListOwner | undefined | typeof LATE>(asked, PATIENCE_MS, LATE)
      if (owner !== LATE) return owner
      // What comes of it is noted, or not.
      asked.catch(() => {})
    } catch (error) {
      if (!isAway(error)) throw error
    }
    return known
  }
  return (token, hwid, now) => {
    const known = memory.recall(token, hwid, now)
    if (known && isSpared()) return known
    const asked = ask(token, hwid, now)
    return known ? askOr(known, asked) : asked
  }
}
