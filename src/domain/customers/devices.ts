/** The device limit: who may fetch a list, and which devices a user has. */
import { admitDevice, countDevices, deleteDevice, listDevices, touchDevices } from '#db/devices.ts'
import type { Plan, Subscription } from '#db/schema/index.ts'
import { type ListOwner, readUser, updateUser } from '#db/users.ts'
import { HWID } from '#db/values.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { readSettings, type Settings } from '#src/domain/settings.ts'
import { type Batch, createBatch } from '#src/lib/batch.ts'
import { formatTimestamp, HOUR_MS, timestampBefore } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { countOwn } from './own-limits.ts'
import { readKnownUser } from './users.ts'

type Deps = Pick<Services, 'db' | 'config' | 'clock'>

export interface DeviceClaim {
  hwid: string
  deviceOs: string | null
  deviceModel: string | null
  userAgent: string | null
}

const REFUSED = { 'x-hwid-active': 'true', 'x-hwid-limit': 'true' }

interface Limited {
  hwidLimit: number | null
}

/** The largest limit of the plans of somebody's active subscriptions; null where none of them has one. */
export function limitOfPlans(
  plans: ReadonlyMap<string, Plan>,
  active: readonly Pick<Subscription, 'plan'>[],
): number | null {
  let largest: number | null = null
  for (const { plan } of active) {
    const limit = plans.get(plan)?.hwidLimit ?? null
    if (limit !== null && limit > (largest ?? 0)) largest = limit
  }
  return largest
}

/** A user's own limit, else that of their plans, else that of everybody. */
const limitOf = ({ hwidLimit }: Limited, settings: Settings, ofPlans: number | null): number =>
  hwidLimit ?? ofPlans ?? settings.int('HWID_FALLBACK_LIMIT')

const isHwid = (text: string): boolean => HWID.test(text)

const hwidRequired = () =>
  refusal('hwid-required').with({ headers: { ...REFUSED, 'x-hwid-not-supported': 'true' } })

const limitReached = () =>
  refusal('device-limit-reached').with({
    headers: { ...REFUSED, 'x-hwid-max-devices-reached': 'true' },
  })

/**
 * True when this registered device may fetch its owner's list, also over a lowered limit; false for a new one, which `admit`
 * decides. Throws the 404 of the interface for a malformed id, and for an explicit limit of 0.
 */
export function isAdmitted(owner: ListOwner, hwid: string): boolean {
  if (!isHwid(hwid)) throw hwidRequired()
  if (owner.hwidLimit === 0) throw limitReached()
  return owner.deviceId !== null
}

/**
 * Lets a new device fetch its owner's list, or throws the 404 of the interface. It is counted and registered in one
 * transaction; `register: false` (HEAD) answers the same and stores nothing.
 */
export async function admit(
  s: Deps,
  owner: ListOwner,
  claim: DeviceClaim,
  { settings, plans }: { settings: Settings; plans: ReadonlyMap<string, Plan> },
  register: boolean,
): Promise<void> {
  const limit = limitOf(owner, settings, limitOfPlans(plans, owner.subscriptions))
  if (!register) {
    const known = await s.db.read((q) => countDevices(q, owner.tgId))
    if (known >= limit) throw limitReached()
    return
  }
  const now = formatTimestamp(s.clock.now())
  const device = { tgId: owner.tgId, ...claim, createdAt: now, lastSeenAt: now }
  const admitted = await s.db.tx(function* (tx) {
    // Deleted or merged since the list was asked for: asked again, it is whoever has the link now.
    if (!(yield* readUser(tx, owner.tgId))) throw refusal('not-found')
    return yield* admitDevice(tx, device, limit)
  })
  if (!admitted) throw limitReached()
}

/** Whether `last_seen_at` is old enough to be written again: once an hour. */
export function isSeenStale(lastSeenAt: string, now: Date): boolean {
  return lastSeenAt < timestampBefore(now, HOUR_MS)
}

/** Collects sightings of known devices for `delayMs` and writes them together, 200 a transaction, after the answers. */
export function createSeenDevices(
  s: Pick<Services, 'db' | 'clock' | 'background'>,
  delayMs: number,
): Batch<number> {
  return createBatch(delayMs, (ids) =>
    s.background.run('devices seen', async () => {
      const now = formatTimestamp(s.clock.now())
      for (let i = 0; i < ids.length; i += 200) await touchDevices(s.db, ids.slice(i, i + 200), now)
    }),
  )
}

/** How many devices a user may have; null while nobody counts them. `ofPlans`: what their plans allow. */
export const deviceLimit = (
  user: Limited,
  settings: Settings,
  ofPlans: number | null = null,
): number | null => (settings.flag('HWID_LIMIT_ENABLED') ? limitOf(user, settings, ofPlans) : null)

/** A user's devices with their own and the fallback limit. Throws 404 for an unknown user. */
export async function userDevices(s: Deps, number: number) {
  const { user, devices } = await s.db.read(function* (q) {
    const known = yield* readKnownUser(q, number)
    return { user: known, devices: yield* listDevices(q, known.tgId) }
  })
  return {
    devices,
    limit: user.hwidLimit,
    fallbackLimit: readSettings(s).int('HWID_FALLBACK_LIMIT'),
  }
}

/** Removes a user's device; an unknown one is no fault. Throws 404 for an unknown user. */
export async function removeDevice(s: Deps, actor: Actor, number: number, id: number | null) {
  const { tgId } = await s.db.read((q) => readKnownUser(q, number))
  if (id === null) return
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    if (yield* deleteDevice(tx, tgId, id)) {
      yield* audit(tx, actor, now, {
        action: 'device.remove',
        object: String(id),
        detail: `tg_id=${tgId}`,
      })
    }
  })
}

/**
 * Removes a device for its owner; an unknown one is no fault and does not count. Throws 404, or 429 after 3 in 24 hours: else one place
 * would serve everybody they know.
 */
export async function removeOwnDevice(
  s: Pick<Deps, 'db' | 'clock'>,
  actor: Actor,
  tgId: number,
  id: number | null,
): Promise<void> {
  if (id === null) return
  const at = s.clock.now()
  const now = formatTimestamp(at)
  await s.db.tx(function* (tx) {
    const user = yield* readUser(tx, tgId)
    if (!user) throw refusal('user-not-found')
    if (!(yield* deleteDevice(tx, tgId, id))) return
    // A refusal rolls the removal back.
    yield* updateUser(tx, tgId, { deviceRemovals: countOwn(user.deviceRemovals, at) })
    yield* audit(tx, actor, now, {
      action: 'device.remove',
      object: String(id),
      detail: `tg_id=${tgId}`,
    })
  })
}

/** Sets a user's own device limit; null means the fallback limit. Throws 404 for an unknown user. */
export async function setHwidLimit(s: Deps, actor: Actor, number: number, limit: number | null) {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const { tgId } = yield* readKnownUser(tx, number)
    yield* updateUser(tx, tgId, { hwidLimit: limit })
    yield* audit(tx, actor, now, {
      action: 'user.hwid-limit',
      object: String(tgId),
      detail: `limit=${limit}`,
    })
  })
}
