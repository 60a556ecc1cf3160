/** What the operator's commands share: how they fail, and that what they write is owner-only. */
import { existsSync } from 'node:fs'
import { ConfigError } from '#src/config.ts'
import { explainFailure } from '#src/instance.ts'
import { ApiError } from '#src/lib/errors.ts'

/** Runs a command: its result is the exit code; what it throws on purpose is one line on stderr. */
export async function runCommand(work: () => Promise<number>): Promise<void> {
  process.umask(0o077)
  try {
    process.exitCode = await work()
  } catch (error) {
    const line = error instanceof ApiError ? error.message : explainFailure(error)?.line
    if (line === undefined) throw error
    process.stderr.write(`${line}\n`)
    process.exitCode = 1
  }
}

/** Throws ConfigError where there is no database yet. */
export function requireDatabase(path: string): void {
  if (!existsSync(path))
    throw new ConfigError(`no database at ${path}: run this where the service runs`)
}

/** The arguments of a command: flags that it knows, and at most one word. Shows `usage` on --help, or throws ConfigError. */
export function readArguments(
  usage: string,
  flags: string[] = [],
): { word: string | undefined; given: Set<string> } {
  const args = process.argv.slice(2)
  if (args.includes('--help')) {
    process.stdout.write(usage)
    process.exit(0)
  }
  const given = new Set(args.filter((arg) => arg.startsWith('--')))
  const words = args.filter((arg) => !arg.startsWith('--'))
  if (words.length > 1 || [...given].some((flag) => !flags.includes(flag)))
    throw new ConfigError(usage.trimEnd())
  return { word: words[0], given }
}
