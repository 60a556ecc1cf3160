/** Browsers in which admins have logged in before. */

import { type Query, type Reading, run } from './engine/database.ts'
import { and, desc, eq, ne, notInArray } from './engine/orm.ts'
import { adminDevices } from './schema/index.ts'

/** The id of an admin's device by its hashed token. */
export function* readDevice(tx: Reading, adminId: number, token: string) {
  const [row] = yield* run(
    tx
      .select({ id: adminDevices.id })
      .from(adminDevices)
      .where(and(eq(adminDevices.token, token), eq(adminDevices.adminId, adminId))),
  )
  return row?.id
}

export function* touchDevice(tx: Query, id: number, at: string) {
  yield* run(tx.update(adminDevices).set({ lastSeenAt: at }).where(eq(adminDevices.id, id)))
}

/** Adds a device of an admin, who has `most` at most: those that were not seen for the longest time go. */
export function* insertDevice(
  tx: Query,
  { adminId, token, at }: { adminId: number; token: string; at: string },
  most: number,
) {
  yield* run(tx.insert(adminDevices).values({ adminId, token, createdAt: at, lastSeenAt: at }))
  const kept = tx
    .select({ id: adminDevices.id })
    .from(adminDevices)
    .where(eq(adminDevices.adminId, adminId))
    .orderBy(desc(adminDevices.lastSeenAt), desc(adminDevices.id))
    .limit(most)
  yield* run(
    tx
      .delete(adminDevices)
      .where(and(eq(adminDevices.adminId, adminId), notInArray(adminDevices.id, kept))),
  )
}

/** Forgets the devices of an admin, all but the one with this hashed token. */
export function* deleteDevicesOf(tx: Query, adminId: number, except: string | null) {
  const others = except === null ? undefined : ne(adminDevices.token, except)
  yield* run(tx.delete(adminDevices).where(and(eq(adminDevices.adminId, adminId), others)))
}
