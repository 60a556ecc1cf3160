import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: [
    './db/schema.ts',
    './db/customer-schema.ts',
    './db/fact-schema.ts',
    './db/admin-schema.ts',
    './db/ssh-schema.ts',
  ],
  out: './db/migrations',
})
