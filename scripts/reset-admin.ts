/** `npm run reset-admin [-- NAME]`: a new password for an admin who is locked out; two-factor login off, sessions ended. */
import { existsSync } from 'node:fs'
import { listAdmins } from '#db/admins.ts'
import { openDatabase, withStartLock } from '#db/open.ts'
import { loadConfig } from '#src/config.ts'
import { resetAdmin } from '#src/domain/admins.ts'
import { systemClock } from '#src/lib/clock.ts'
import { ApiError, errorMessage } from '#src/lib/errors.ts'

const [name = 'admin', ...rest] = process.argv.slice(2)
if (name.startsWith('-') || rest.length > 0) {
  process.stdout.write(
    'usage: npm run reset-admin [-- NAME]   (NAME: the admin, `admin` by default; with spaces in quotes)\n',
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
  const { username, password } = await resetAdmin({ db, clock: systemClock }, name)
  process.stdout.write(
    `New password of ${username}: ${password}\nTwo-factor login is off, all sessions are ended.\n`,
  )
} catch (error) {
  const names = error instanceof ApiError ? (await listAdmins(db)).map((one) => one.username) : []
  const known = names.length > 0 ? `: ${name} (there are: ${names.join(', ')})` : ''
  process.stderr.write(`${errorMessage(error)}${known}\n`)
  process.exitCode = 1
} finally {
  db.close()
}
