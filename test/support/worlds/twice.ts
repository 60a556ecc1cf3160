/** Transactions whose bodies run twice, as after a serialization failure: one that does more than ask and write has done it twice then, and its test sees that. */
import type { Database, TxBody } from '#db/engine/database.ts'
import type { PostgresDatabase } from '#db/engine/postgres/handle.ts'

class ForNothing extends Error {}

function* rolledBack<T>(body: TxBody<T>, tx: Parameters<TxBody<T>>[0]) {
  yield* body(tx)
  throw new ForNothing()
}

/** Gives what puts the numbers of rows back to where they are: no transaction does, and tests know the numbers of their rows. */
function numbersOf({ pool }: PostgresDatabase) {
  let names: Promise<string[]> | undefined
  const read = async () => {
    const { rows } = await pool.query('select sequencename as name from pg_sequences')
    return rows.map(({ name }) => name)
  }
  return async (): Promise<() => Promise<unknown>> => {
    names ??= read()
    const each = (await names).map(
      (name) => `select '${name}' as name, last_value, is_called from "${name}"`,
    )
    const { rows } = await pool.query(each.join(' union all '))
    const calls = rows.map((row) => `setval('${row.name}', ${row.last_value}, ${row.is_called})`)
    return () => pool.query(`select ${calls.join()}`)
  }
}

/** The same database, each of whose transactions is tried for nothing before it is run; those that come meanwhile wait. */
export function runTwice(db: PostgresDatabase): PostgresDatabase {
  let trials: Promise<unknown> = Promise.resolve()
  let open = 0
  const keepNumbers = numbersOf(db)
  const twice =
    (run: Database['tx']): Database['tx'] =>
    async (body) => {
      await trials
      open++
      try {
        // Beside another one numbers can't be given back.
        if (open === 1) {
          trials = (async () => {
            const giveBack = await keepNumbers()
            // What it throws, it throws again.
            await run((tx) => rolledBack(body, tx)).catch(() => {})
            await giveBack()
          })()
          await trials
        }
        return await run(body)
      } finally {
        open--
      }
    }
  const both: PostgresDatabase = {
    ...db,
    tx: twice(db.tx),
    txUnsynced: twice(db.txUnsynced),
    txVolatile: twice(db.txVolatile),
    onBehalfOf: (whose) => ({ ...both, tx: twice(db.onBehalfOf(whose).tx) }),
  }
  return both
}
