/** The one row of `installation`. */
import type { Database } from './engine/database.ts'
import { eq } from './engine/orm.ts'
import { kept } from './engine/question.ts'
import { installation } from './schema/index.ts'

const secret = kept<{ secret: string }[]>((q) =>
  q.select({ secret: installation.secret }).from(installation).where(eq(installation.id, 1)),
)

/** The installation's secret as it is now, in hex: a restore changes it, and settings in the same transaction. */
export function getInstallationSecret(db: Database): string {
  const [row] = db.kept(secret)
  if (!row) throw new Error('the database has no secret of the installation')
  return row.secret
}
