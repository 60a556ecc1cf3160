/** Sums that PostgreSQL keeps as rows of their changes (engine/fact-triggers.ts), put together from time to time. */
import { ask, type Database } from './engine/database.ts'
import { ENGINE } from './engine/engine.ts'
import { FOLDINGS } from './engine/facts.ts'
import { written } from './engine/question.ts'

const foldings = ENGINE === 'postgres' ? FOLDINGS.map((text) => written(text)) : []

/** A power cut may undo it: the rows that it had put together are there then. */
export async function foldSums(db: Database): Promise<void> {
  for (const folding of foldings) await db.txVolatile(() => ask(folding, {}))
}
