/** What the operator's commands share: how they fail, and that what they write is owner-only. */
import { storeAt } from '#db/engine/open.ts'
import type { Store, StorePlace } from '#db/engine/store.ts'
import { ConfigError } from '#src/config.ts'
import { explainFailure, movedFrom } from '#src/instance.ts'
import { ApiError } from '#src/lib/errors.ts'

/** A command line that the command does not understand; the message is its usage. */
export class UsageError extends Error {}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof UsageError) return error.message.trimEnd()
  return error instanceof ApiError ? error.message : explainFailure(error)?.line
}

/** Runs a command: its result is the exit code; what it throws on purpose is one line on stderr, or its usage. */
export async function runCommand(work: () => Promise<number>): Promise<void> {
  process.umask(0o077)
  try {
    process.exitCode = await work()
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    process.stderr.write(`${reason}\n`)
    process.exitCode = 1
  }
}

/** The database of the service. Throws ConfigError where there is none yet. */
export async function requireStore(place: StorePlace): Promise<Store> {
  const store = await storeAt(place)
  const state = await store.state()
  if (state === 'moved') throw new ConfigError(movedFrom(store))
  if (state !== 'there')
    throw new ConfigError(`no database at ${store.name}: run this where the service runs`)
  return store
}

/** The arguments of a command: flags that it knows, and at most one word. Shows `usage` on --help, or throws it. */
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
    throw new UsageError(usage)
  return { word: words[0], given }
}
