import { defineConfig } from 'drizzle-kit'
import { ENGINE } from './db/engine/engine.ts'

// The engine is that of the process: `npm run db:generate` runs it once for each.
export default defineConfig({
  dialect: ENGINE === 'postgres' ? 'postgresql' : 'sqlite',
  schema: './db/schema/index.ts',
  out: ENGINE === 'postgres' ? './db/migrations-postgres' : './db/migrations',
})
