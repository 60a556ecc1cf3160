/** The one row of `installation`. */
import type { Database, Query } from './database.ts'
import { eq } from './orm.ts'
import { installation } from './schema.ts'

const secret = (q: Query) =>
  q
    .select({ secret: installation.secret })
    .from(installation)
    .where(eq(installation.id, 1))
    .prepare()

/** The installation's secret as it is now, in hex: a restore changes it. */
export function getInstallationSecret(db: Database): string {
  const row = db.prepared(secret).get()
  if (!row) throw new Error('the database has no secret of the installation')
  return row.secret
}
