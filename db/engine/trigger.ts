/** Triggers as both engines make them. */

export interface Trigger {
  name: string
  table: string
  /** After which change of it. */
  after: 'insert' | 'update' | 'delete'
  /** Only after an update that sets one of these columns. */
  columns?: readonly string[]
  /** Only where this holds of OLD and NEW. */
  when?: string
  /** What is done for each row. Statements, each with its semicolon. */
  body: string
  /** Where once will do for a statement: PostgreSQL does it once, for one that changes no row too. */
  once?: true
}

const eventOf = ({ after, columns, table }: Trigger): string => {
  const what = columns === undefined ? after : `${after} of ${columns.join(', ')}`
  return `after ${what} on ${table}`
}

/** What follows its name in SQLite. */
export const sqliteTrigger = (trigger: Trigger): string => {
  const when = trigger.when === undefined ? '' : ` when ${trigger.when}`
  return `${eventOf(trigger)}${when} begin ${trigger.body} end`
}

/** The statements that put it in this form in PostgreSQL, whose triggers call functions. */
export function postgresTrigger(trigger: Trigger): string[] {
  const { name, body, when, once } = trigger
  const each = once ? 'statement' : 'row'
  const condition = when === undefined ? '' : ` when (${when})`
  return [
    `create or replace function ${name}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`,
    `create or replace trigger ${name} ${eventOf(trigger)} for each ${each}${condition} execute function ${name}()`,
  ]
}
