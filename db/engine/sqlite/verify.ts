/** Finds the rows of a SQLite file that break an invariant, and where the file itself is damaged. */
import type { Database as Driver } from 'better-sqlite3'
import { lastingQuestions, linesOf, MOST_NAMED, type Question, questionsOf } from '../invariants.ts'
import { isPresentForm } from './migrate.ts'

/** The lines of one question: each row that is at fault, at most twenty. */
function ask(raw: Driver, question: Question, since: string): string[] {
  const { sql } = question
  const statement = raw.prepare(`SELECT * FROM (${sql}) LIMIT ${MOST_NAMED + 1}`).pluck()
  const keys = sql.includes(':since') ? statement.all({ since }) : statement.all()
  return linesOf(question, keys)
}

function checkFile(raw: Driver): string[] {
  const found = (raw.pragma('integrity_check(20)') as { integrity_check: string }[])
    .map((row) => row.integrity_check)
    .filter((line) => line !== 'ok')
  const dangling = raw.pragma('foreign_key_check') as {
    table: string
    rowid: number
    parent: string
  }[]
  return [
    ...found.map((line) => `I8 the file is damaged: ${line}`),
    ...dangling
      .slice(0, MOST_NAMED)
      .map((row) => `I8 row points nowhere: ${row.table} ${row.rowid}, to ${row.parent}`),
  ]
}

/** A line for every row that breaks an invariant, all as of one moment; none when all is well. */
export function findFaults(raw: Driver, since: string): string[] {
  raw.exec('BEGIN')
  try {
    const questions = isPresentForm(raw) ? questionsOf('sqlite') : lastingQuestions('sqlite')
    return [...checkFile(raw), ...questions.flatMap((question) => ask(raw, question, since))]
  } finally {
    raw.exec('COMMIT')
  }
}
