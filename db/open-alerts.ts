/** The states that admins know of. */
import { type Query, type Reading, run } from './engine/database.ts'
import { inArray } from './engine/orm.ts'
import { openAlerts } from './schema/index.ts'

/** Those of these states of whose beginning the admins were told, and not yet of their end. */
export function* openAmong(q: Reading, names: string[]) {
  const rows = yield* run(q.select().from(openAlerts).where(inArray(openAlerts.name, names)))
  return rows.map(({ name }) => name)
}

/** Whether this one is among them. */
export function* isAlertOpen(q: Reading, name: string) {
  return (yield* openAmong(q, [name])).length > 0
}

export function* openAlert(tx: Query, name: string) {
  yield* run(tx.insert(openAlerts).values({ name }))
}

export function* closeAlerts(tx: Query, names: string[]) {
  yield* run(tx.delete(openAlerts).where(inArray(openAlerts.name, names)))
}
