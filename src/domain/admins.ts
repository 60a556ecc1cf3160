/** Admin accounts. */
import { deleteSessionsOf, findAdminByName, updateAdmin } from '#db/admins.ts'
import { hashPassword } from '#src/lib/crypto.ts'
import { notFound } from '#src/lib/errors.ts'
import { randomBase32 } from '#src/lib/random.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { audit } from './audit.ts'

/** A password that fits on a phone's keyboard: 100 random bits. */
export const generatePassword = (): string => randomBase32(20).toLowerCase()

/**
 * The rescue of an operator who is locked out: a new password (returned), no second factor, no session. Throws 404 for an
 * unknown name.
 */
export async function resetAdmin(
  s: Pick<Services, 'db' | 'clock'>,
  username: string,
): Promise<string> {
  const admin = await findAdminByName(s.db, username)
  if (!admin) throw notFound('admin not found')
  const password = generatePassword()
  const passwordHash = await hashPassword(password)
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    yield* updateAdmin(tx, admin.id, { passwordHash, totpSecret: null, totpLastStep: null })
    yield* deleteSessionsOf(tx, admin.id)
    yield* audit(tx, { admin: null, ip: 'shell' }, now, {
      action: 'admin.reset',
      object: admin.username,
    })
  })
  return password
}
