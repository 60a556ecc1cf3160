/** Finds the rows of a PostgreSQL database that break an invariant. */
import { linesOf, MOST_NAMED, type Question, questionsOf } from '../invariants.ts'
import type { Asking } from './steps.ts'

/** A question as a statement and its parameters; its rows have the key alone. */
export const statementOf = ({ sql }: Question, since: string): [sql: string, values: string[]] => [
  `select * from (${sql.replaceAll(':since', '$1')}) as faults limit ${MOST_NAMED + 1}`,
  sql.includes(':since') ? [since] : [],
]

/**
 * A line for every row that breaks an invariant; none when all is well. `since`: from when on all messages and events are kept. To be
 * called within a transaction that sees one moment.
 */
export async function findFaults(client: Asking, since: string): Promise<string[]> {
  const lines: string[] = []
  for (const question of questionsOf('postgres')) {
    const [text, values] = statementOf(question, since)
    const { rows } = await client.query({ text, values, rowMode: 'array' })
    lines.push(...linesOf(question, rows.flat()))
  }
  return lines
}
