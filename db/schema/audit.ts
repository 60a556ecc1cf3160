/** Who changed what. */
import { autoId, index, table, text } from '../engine/columns.ts'
import { sql } from '../engine/orm.ts'

/** A constant, as the condition of a partial index must be. */
export const IS_LOGIN = sql`action = 'login'`

export const auditLog = table(
  'audit_log',
  {
    id: autoId('id'),
    at: text('at').notNull(),
    admin: text('admin'),
    ip: text('ip').notNull(),
    action: text('action').notNull(),
    object: text('object').notNull().default(''),
    detail: text('detail').notNull().default(''),
  },
  (t) => [
    index('audit_log_at').on(t.at),
    index('audit_log_logins').on(t.admin, t.ip, t.at).where(IS_LOGIN),
    index('audit_log_action').on(sql`lower(action)`),
    index('audit_log_admin').on(t.admin, t.action).where(sql`admin is not null`),
  ],
)

export type AuditEntry = typeof auditLog.$inferSelect
