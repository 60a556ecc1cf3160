/** Templates of lists, one of a format. */
import { type Database, type Query, type Reading, run } from './engine/database.ts'
import { asc, eq } from './engine/orm.ts'
import { kept } from './engine/question.ts'
import { type ListTemplate, listTemplates } from './schema/index.ts'
import type { TemplateFormat } from './values.ts'

const all = kept<ListTemplate[]>((q) =>
  q.select().from(listTemplates).orderBy(asc(listTemplates.format)),
)

/** All of them, from memory. */
export const keptTemplates = (db: Database): readonly ListTemplate[] => db.kept(all)

export function* readTemplateRow(q: Reading, format: TemplateFormat) {
  const [row] = yield* run(q.select().from(listTemplates).where(eq(listTemplates.format, format)))
  return row as ListTemplate | undefined
}

export function* putTemplate(tx: Query, row: ListTemplate) {
  const { body, updatedAt } = row
  yield* run(
    tx
      .insert(listTemplates)
      .values(row)
      .onConflictDoUpdate({ target: listTemplates.format, set: { body, updatedAt } }),
  )
}

export function* deleteTemplate(tx: Query, format: TemplateFormat) {
  yield* run(tx.delete(listTemplates).where(eq(listTemplates.format, format)))
}
