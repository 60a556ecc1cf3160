/** The states that admins know of. */
import { type Database, type Query, run } from './engine/database.ts'
import { inArray } from './engine/orm.ts'
import { built, type Nothing } from './engine/question.ts'
import { openAlerts } from './schema.ts'

const every = built<Nothing, { name: string }[]>((q) => q.select().from(openAlerts))

/** Whether the admins were told that the state `name` began and not yet that it ended. */
export const isAlertOpen = (db: Database, name: string): boolean =>
  db.ask(every, {}).some((row) => row.name === name)

/** The same inside a transaction: those of these states that the admins know of. */
export function* openAmong(tx: Query, names: string[]) {
  const rows = yield* run(tx.select().from(openAlerts).where(inArray(openAlerts.name, names)))
  return rows.map(({ name }) => name)
}

export function* openAlert(tx: Query, name: string) {
  yield* run(tx.insert(openAlerts).values({ name }))
}

export function* closeAlerts(tx: Query, names: string[]) {
  yield* run(tx.delete(openAlerts).where(inArray(openAlerts.name, names)))
}
