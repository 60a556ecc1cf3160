/** Lists as the operator writes them in place of our own, around their entries. */
import { oneOf, table, text } from '../engine/columns.ts'
import { TEMPLATE_FORMATS } from '../values.ts'

export const listTemplates = table('list_templates', {
  format: oneOf('format', TEMPLATE_FORMATS).primaryKey(),
  body: text('body').notNull(),
  updatedAt: text('updated_at').notNull(),
})

export type ListTemplate = typeof listTemplates.$inferSelect
