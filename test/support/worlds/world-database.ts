/** The database of a world: the engine that the process has. */
import { ENGINE } from '#db/engine/engine.ts'
import type { OpenWorldDatabase } from './database-of-world.ts'
import { openPostgres } from './postgres-database.ts'
import { openSqlite } from './sqlite-database.ts'

export const openWorldDatabase: OpenWorldDatabase =
  ENGINE === 'postgres' ? openPostgres : openSqlite
