/** `npm run move -- TO`: a shop from SQLite to PostgreSQL, or back (docs/scaling.md). */
import { readFileSync } from 'node:fs'
import { storeAt } from '#db/engine/open.ts'
import type { Moving } from '#db/engine/postgres/move.ts'
import type { StorePlace } from '#db/engine/store.ts'
import { ConfigError, loadConfig } from '#src/config.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { systemClock } from '#src/lib/clock.ts'
import { readArguments, requireStore, runCommand, UsageError } from './operator.ts'

const USAGE = `usage: npm run move -- TO [--dry-run]
  TO         where the shop goes: file:<path>, or postgres://user@server/database, a new one; - reads it from stdin, with a password that
             nobody else on this machine is to see
  --dry-run  do all of it, compare, and keep nothing
Copies the database that the service has (DATABASE_URL) and compares each row. Stop the service first. The source keeps its rows; a file gets another
name, so that nothing goes on with it. Then put DATABASE_URL=TO into the env file and start. Backups restore into either.
`

/** Whether an argument is an address with one. */
function hasPassword(word: string): boolean {
  if (!URL.canParse(word)) return false
  const { password, searchParams } = new URL(word)
  return password !== '' || searchParams.has('password')
}

/** Where TO is, read as DATABASE_URL is. */
function placeOf(to: string): StorePlace {
  const { databasePath, databaseUrl } = loadConfig(
    { ...process.env, DATABASE_URL: to },
    process.cwd(),
    GATEWAYS,
  )
  return { databasePath, databaseUrl }
}

/** What is to be told of it when it is done. */
async function move(from: StorePlace, to: StorePlace, moving: Moving): Promise<string> {
  const { moveToFile, moveToServer } = await import('#db/engine/postgres/move.ts')
  const now = systemClock.now()
  if (from.databaseUrl === null && to.databaseUrl !== null) {
    const left = await moveToServer(from.databasePath, to.databaseUrl, now, moving)
    return `The file is ${left} now.`
  }
  if (from.databaseUrl !== null && to.databaseUrl === null) {
    await moveToFile(from.databaseUrl, to.databasePath, now, moving)
    return 'The server has its rows still: see that no process is started with its address.'
  }
  throw new ConfigError(
    from.databaseUrl === null
      ? 'from a file to a file: stop the service and copy it'
      : 'from a server to a server: pg_dump and pg_restore do that',
  )
}

await runCommand(async () => {
  const { word, given } = readArguments(USAGE, ['--dry-run'])
  if (word === undefined) throw new UsageError(USAGE)
  const config = loadConfig(process.env, process.cwd(), GATEWAYS)
  const store = await requireStore(config)
  if (!(await store.isPresentForm())) {
    throw new ConfigError(
      'the database has the form of another version: start the service with it once',
    )
  }
  if (hasPassword(word)) {
    throw new ConfigError(
      'others on this machine see the password: npm run move -- - < FILE, with the address in FILE',
    )
  }
  if ((await store.read('pending_env')) !== undefined)
    throw new ConfigError('a restore was interrupted: start the service once, which ends it')
  const to = placeOf(word === '-' ? readFileSync(0, 'utf8').trim() : word)
  const isTrial = given.has('--dry-run')
  let all = 0
  const began = systemClock.monotonicMs()
  const done = await move(config, to, {
    isTrial,
    told(table, rows) {
      all += rows
      process.stderr.write(`${table}: ${rows}\n`)
    },
  })
  const seconds = ((systemClock.monotonicMs() - began) / 1000).toFixed(1)
  const name = (await storeAt(to)).name
  process.stdout.write(
    isTrial
      ? `${all} rows would go from ${store.name} to ${name}, each the same on both sides; ${seconds} s. Nothing was kept.\n`
      : `${all} rows went from ${store.name} to ${name}, each the same on both sides; ${seconds} s. ${done} Set DATABASE_URL in ${config.envFile} and start.\n`,
  )
  return 0
})
