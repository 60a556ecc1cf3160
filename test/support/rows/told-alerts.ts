/** Alerts as they wait to be sent. */
import type { World } from '#test/support/worlds/world.ts'

/** Whom, and what, oldest first. */
export const alertsOf = (w: World) =>
  w
    .rows('select tg_id, payload from outbox order by id')
    .map((row) => [row.tg_id, JSON.parse(row.payload)])

/** What this admin was told, oldest first. */
export const toldTo = (w: World, admin: number) =>
  alertsOf(w).flatMap(([tgId, payload]) => (tgId === admin ? [payload] : []))
