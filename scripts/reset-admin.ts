/** `npm run reset-admin [-- NAME]`: a new password for an admin who is locked out; two-factor login off, sessions ended. */
import { existsSync } from 'node:fs'
import { openDatabase, withStartLock } from '#db/open.ts'
import { loadConfig } from '#src/config.ts'
import { resetAdmin } from '#src/domain/admins.ts'
import { systemClock } from '#src/lib/clock.ts'

const name = process.argv[2] ?? 'admin'
if (name.startsWith('-')) {
  process.stdout.write(
    'usage: npm run reset-admin [-- NAME]   (NAME: the admin, `admin` by default)\n',
  )
  process.exit(name === '--help' ? 0 : 1)
}
const config = loadConfig(process.env, process.cwd())

if (!existsSync(config.databasePath)) {
  process.stderr.write(`no database at ${config.databasePath}: run this where the service runs\n`)
  process.exit(1)
}
const db = await withStartLock(config.databasePath, async () =>
  openDatabase(config.databasePath, { now: systemClock.now() }),
)
try {
  const password = await resetAdmin({ db, clock: systemClock }, name)
  process.stdout.write(
    `New password of ${name}: ${password}\nTwo-factor login is off, all sessions are ended.\n`,
  )
} catch (error) {
  process.stderr.write(`${(error as Error).message}: ${name}\n`)
  process.exitCode = 1
} finally {
  db.close()
}
