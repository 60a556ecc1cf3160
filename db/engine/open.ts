/** Where the database of an installation is found. */
import { sqliteStore } from './sqlite/store.ts'
import type { Store, StorePlace } from './store.ts'

/** What knows PostgreSQL is loaded where somebody has it. */
export async function storeAt({ databasePath, databaseUrl }: StorePlace): Promise<Store> {
  if (databaseUrl === null) return sqliteStore(databasePath)
  const { postgresStore } = await import('./postgres/store.ts')
  return postgresStore(databaseUrl)
}
