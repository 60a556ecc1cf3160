/** Traffic packs as an admin manages them. A payment names its pack: one in use is archived, not deleted. */

import { isUniqueViolation } from '#db/engine/failures.ts'
import type { TrafficPack } from '#db/schema/index.ts'
import {
  deletePack,
  insertPack,
  isPackUsed,
  readPack,
  readPackCodes,
  reorderPacks,
  updatePack,
} from '#db/traffic-packs.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { checkOrder } from '#src/domain/ordering.ts'
import { requireRoom } from '#src/domain/room.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock'>

type PackFields = Omit<TrafficPack, 'code'>
type PackChanges = { [K in keyof PackFields]?: PackFields[K] | undefined }

/** Creates a pack, at the end of the display order unless it names its place. Throws 400 when the code is taken. */
export async function createPack(
  s: Deps,
  actor: Actor,
  {
    sortOrder,
    ...fields
  }: Omit<TrafficPack, 'sortOrder' | 'archived'> & { sortOrder?: number | undefined },
): Promise<TrafficPack> {
  const now = formatTimestamp(s.clock.now())
  try {
    return await s.db.tx(function* (tx) {
      yield* requireRoom(tx, 'traffic_packs')
      const pack = yield* insertPack(tx, { ...fields, ...omitUndefined({ sortOrder }) })
      yield* audit(tx, actor, now, {
        action: 'pack.create',
        object: pack.code,
        detail: `gb=${pack.gb} price=${pack.price}`,
      })
      return pack
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw refusal('pack-code-taken')
    throw error
  }
}

/** Changes fields of a pack; without any it stays as it is. What was ordered before keeps its bytes. Throws 404. */
export async function editPack(
  s: Deps,
  actor: Actor,
  code: string,
  changes: PackChanges,
): Promise<TrafficPack> {
  const now = formatTimestamp(s.clock.now())
  const fields = omitUndefined(changes)
  return s.db.tx(function* (tx) {
    const present = yield* readPack(tx, code)
    if (!present) throw refusal('pack-not-found')
    const keys = Object.keys(fields)
    if (keys.length === 0) return present
    const updated = yield* updatePack(tx, code, fields)
    yield* audit(tx, actor, now, { action: 'pack.edit', object: code, detail: keys.join(' ') })
    return updated as TrafficPack
  })
}

/** Gives the packs a new display order. Throws 400 unless `codes` names every pack, archived ones too, exactly once. */
export async function orderPacks(s: Deps, actor: Actor, codes: string[]): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    checkOrder(codes, yield* readPackCodes(tx), 'pack')
    yield* reorderPacks(tx, codes)
    yield* audit(tx, actor, now, { action: 'pack.reorder' })
  })
}

/** Deletes a pack, or archives it where a payment names it. Throws 404. */
export async function removePack(
  s: Deps,
  actor: Actor,
  code: string,
): Promise<'deleted' | 'archived'> {
  const now = formatTimestamp(s.clock.now())
  return s.db.tx(function* (tx) {
    const pack = yield* readPack(tx, code)
    if (!pack) throw refusal('pack-not-found')
    const used = yield* isPackUsed(tx, code)
    if (used && pack.archived) return 'archived'
    if (used) yield* updatePack(tx, code, { archived: true })
    else yield* deletePack(tx, code)
    yield* audit(tx, actor, now, { action: used ? 'pack.archive' : 'pack.delete', object: code })
    return used ? 'archived' : 'deleted'
  })
}
