/** Tests of one engine alone. */
import { test } from 'vitest'
import { ENGINE } from '#db/engine/engine.ts'

/**
 * A test about SQLite itself (its triggers, its file, one connection), or about an order that holds because it answers within the call. Elsewhere it
 * is not there: the same promise has a test of its own.
 */
export const testOnSqlite = (ENGINE === 'sqlite' ? test : () => {}) as typeof test
