/** Which engine the database of this process has. Known before the tables are: their columns are made of it. */
export type Engine = 'sqlite' | 'postgres'

/** The engine that an address of a database (DATABASE_URL) names: files are SQLite's. */
export const engineOf = (url: string | undefined): Engine =>
  /^postgres(?:ql)?:/.test(url ?? '') ? 'postgres' : 'sqlite'

export const ENGINE = engineOf(process.env.DATABASE_URL)
