/** `npm run reset-admin [-- NAME]`: a new password for an admin who is locked out; two-factor login off, sessions ended. */
import { listAdmins } from '#db/admins.ts'
import type { Database } from '#db/engine/database.ts'
import { type Config, ConfigError, loadConfig } from '#src/config.ts'
import { resetAdmin } from '#src/domain/accounts/admins.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { systemClock } from '#src/lib/clock.ts'
import { ApiError } from '#src/lib/errors.ts'
import { readArguments, requireStore, runCommand } from './operator.ts'

const USAGE = `usage: npm run reset-admin [-- NAME]
  NAME   the admin, by default admin; with spaces in quotes
Run it where the service runs, as its user.
`

/** Shows the new password, or throws ConfigError with the names that there are. */
async function reset(db: Database, config: Config, name: string): Promise<void> {
  try {
    const { username, password } = await resetAdmin({ db, config, clock: systemClock }, name)
    process.stdout.write(
      `New password of ${username}: ${password}\nTwo-factor login is off, all sessions are ended.\n`,
    )
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const names = (await db.read(listAdmins)).map((one) => one.username)
    throw new ConfigError(`${error.message}: ${name} (there are: ${names.join(', ')})`)
  }
}

await runCommand(async () => {
  const { word: name = 'admin' } = readArguments(USAGE)
  const config = loadConfig(process.env, process.cwd(), GATEWAYS)
  const store = await requireStore(config)
  const db = await store.withStartLock(() => store.open({ now: systemClock.now() }))
  try {
    await reset(db, config, name)
  } finally {
    db.close()
  }
  return 0
})
