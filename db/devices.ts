/** Devices that fetched a list while the device limit was on. */
import { ask, type Database, type Query, type Reading, run } from './engine/database.ts'
import { and, asc, eq, inArray, sql } from './engine/orm.ts'
import { built, field } from './engine/question.ts'
import { MOST_OF_CUSTOMER } from './listing.ts'
import { type Device, devices } from './schema/index.ts'

const ofUser = built<{ tgId: number }, Device[]>((q) =>
  q
    .select()
    .from(devices)
    .where(eq(devices.tgId, field('tgId')))
    .orderBy(asc(devices.id))
    .limit(MOST_OF_CUSTOMER),
)

/** A customer's devices, oldest first; `MOST_OF_CUSTOMER` of them. */
export function* listDevices(_q: Reading, tgId: number) {
  return yield* ask(ofUser, { tgId })
}

const counted = built<{ tgId: number }, { n: number }[]>((q) =>
  q
    .select({ n: sql<number>`count(*)` })
    .from(devices)
    .where(eq(devices.tgId, field('tgId'))),
)

/** How many devices a customer has. */
export function* countDevices(_q: Reading, tgId: number) {
  const [row] = yield* ask(counted, { tgId })
  return row?.n ?? 0
}

/** Registers a device unless the user has `limit` others. True when it is registered now, by this call or before. */
export function* admitDevice(tx: Query, device: typeof devices.$inferInsert, limit: number) {
  const [known] = yield* run(
    tx
      .select({ id: devices.id })
      .from(devices)
      .where(and(eq(devices.tgId, device.tgId), eq(devices.hwid, device.hwid))),
  )
  if (known) return true
  if ((yield* countDevices(tx, device.tgId)) >= limit) return false
  yield* run(tx.insert(devices).values(device))
  return true
}

/** Removes a device when both ids belong together. True when it was there. */
export function* deleteDevice(tx: Query, tgId: number, id: number) {
  const rows = yield* run(
    tx
      .delete(devices)
      .where(and(eq(devices.tgId, tgId), eq(devices.id, id)))
      .returning({ id: devices.id }),
  )
  return rows.length > 0
}

/** Marks devices as seen at `now`. */
export async function touchDevices(db: Database, ids: number[], now: string): Promise<void> {
  await db.tx((tx) =>
    run(tx.update(devices).set({ lastSeenAt: now }).where(inArray(devices.id, ids))),
  )
}
