/**
 * The text of an env file that a restore has decided on, as the database keeps it until it is written. A database on a server is other
 * machines', too, and so are its dumps: there the text says whose it is, and has no address of the server with its password.
 */
import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { parseEnvFile, setEnvLine } from './env-file.ts'

export interface EnvPlace {
  envFile: string
  /** The server of the database; null where it is a file. */
  databaseUrl: string | null
}

const ADDRESS = 'DATABASE_URL'

/** Whatever quotes and spaces it has, and where it does not count, too. */
const SERVER = /^[\s#]*(?:export\s+)?DATABASE_URL\s*=[\s"']*postgres/i

/** The text without addresses of a server; that of a file stays. */
export const withoutServer = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !SERVER.test(line))
    .join('\n')

/** A comment, as the rest of the text has lines. */
const ownerLine = (envFile: string) => `# of ${hostname()}, ${envFile}\n`

export const toPending = ({ envFile, databaseUrl }: EnvPlace, text: string): string =>
  databaseUrl === null ? text : ownerLine(envFile) + withoutServer(text)

/** The text that is to be written here; undefined for none, and for another machine's. */
export function fromPending(
  { envFile, databaseUrl }: EnvPlace,
  pending: string | undefined,
): string | undefined {
  if (databaseUrl === null || pending === undefined) return pending
  const line = ownerLine(envFile)
  if (!pending.startsWith(line)) return undefined
  const text = pending.slice(line.length)
  const address = existsSync(envFile)
    ? parseEnvFile(readFileSync(envFile, 'utf8'))[ADDRESS]
    : undefined
  return address === undefined ? text : setEnvLine(text, ADDRESS, address)
}
