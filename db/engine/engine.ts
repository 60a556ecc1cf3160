/** Which engine the database of this process has. Known before the tables are: their columns are made of it. */
import { readFileSync } from 'node:fs'
import { parseEnvFile } from '#src/lib/env-file.ts'

export type Engine = 'sqlite' | 'postgres'

/** The engine that an address of a database (DATABASE_URL) names: files are SQLite's. */
export const engineOf = (url: string | undefined): Engine =>
  /^postgres(?:ql)?:/.test(url ?? '') ? 'postgres' : 'sqlite'

/** As src/config.ts reads it: the process's own environment wins over the env file. */
function configured({ DATABASE_URL, ENV_FILE }: NodeJS.ProcessEnv): string | undefined {
  if (DATABASE_URL?.trim()) return DATABASE_URL.trim()
  try {
    return parseEnvFile(readFileSync(ENV_FILE?.trim() || '.env', 'utf8')).DATABASE_URL?.trim()
  } catch {
    // What is wrong with it is told by whoever reads all of it.
    return undefined
  }
}

export const ENGINE = engineOf(configured(process.env))
