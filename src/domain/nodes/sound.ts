/** What files, commands and lists are made of: values of which each is one that its column may hold. */
import { STORED_TABLES } from '#db/rows.ts'
import type { Node } from '#db/schema/index.ts'
import { NodeError } from '#src/lib/errors.ts'
import { UUID } from '#src/lib/uuid.ts'

/** Private, so that a changed copy (`{ ...row, port }`) is not taken for what was looked at. */
declare abstract class Checked {
  private readonly checked: true
}

/** A row or a value that was looked at here: what renderers take, and nobody else makes. */
export type Sound<T> = T & Checked

export type SoundNode = Sound<Node>

const unsound = (table: string, column: string) =>
  new NodeError('unsound', `${column} of ${table} is nothing that may be written`)

const known = new WeakSet<object>()

/**
 * The row of a table as what a renderer takes, looked at once for each object. Requests and restores let no other value in: this is
 * for what came past them. Throws NodeError `unsound`, naming the column.
 */
export function soundRow<T extends object>(table: string, row: T): Sound<T> {
  if (!known.has(row)) {
    const fault = STORED_TABLES.get(table)?.faultOf({ ...row } as Record<string, unknown>)
    if (fault !== null) throw unsound(table, String(fault))
    known.add(row)
  }
  return row as Sound<T>
}

export const soundNode = (node: Node): SoundNode => soundRow('nodes', node)

/** The same of a client's id. Every list has one of its own: the schema of the column would take ten times as long. */
export function soundUuid(uuid: string): Sound<string> {
  if (!UUID.test(uuid)) throw unsound('subscriptions', 'uuid')
  return uuid as Sound<string>
}

const planLabels = STORED_TABLES.get('plans')?.columns.find(({ name }) => name === 'label')

/** The same of what a plan is called. */
export function soundPlanLabel(label: string): Sound<string> {
  if (!planLabels?.accepts(label)) throw unsound('plans', 'label')
  return label as Sound<string>
}
