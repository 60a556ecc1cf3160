/** drizzle for PostgreSQL, through its CommonJS build as in ../orm.ts. */
import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

export const { drizzle } = load(
  'drizzle-orm/node-postgres',
) as typeof import('drizzle-orm/node-postgres')
