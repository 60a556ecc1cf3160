/** The passphrase that backups are encrypted to. It is stored nowhere: what is made of it encrypts, and it alone decrypts. */
import { getInstance, updateInstance } from '#db/instance.ts'
import type { Login } from '#src/domain/accounts/principals.ts'
import { requireLogin } from '#src/domain/accounts/sessions.ts'
import { audit } from '#src/domain/audit.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import {
  derivePassphraseKey,
  formatPassphraseKey,
  type PassphraseKey,
  parsePassphraseKey,
} from '#src/lib/passphrase-key.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

/** What backups are encrypted with; null where they are not. */
export function backupKey(s: Pick<Services, 'db'>): PassphraseKey | null {
  const text = getInstance(s.db).backupKey
  return text === null ? null : parsePassphraseKey(text)
}

/**
 * Encrypts backups and snapshots from now on to another passphrase, or with null to none; those that are there stay as they are.
 * Throws 401 when the session has ended meanwhile.
 */
export async function setBackupPassphrase(
  s: Pick<Services, 'db' | 'clock' | 'config' | 'hashing'>,
  login: Login,
  passphrase: string | null,
): Promise<void> {
  const key = passphrase === null ? null : await s.hashing(() => derivePassphraseKey(passphrase))
  const at = formatTimestamp(s.clock.now())
  const isSet = key !== null
  await s.db.tx(function* (tx) {
    yield* requireLogin(tx, login, at)
    yield* updateInstance(tx, { backupKey: key && formatPassphraseKey(key) })
    const detail = isSet ? 'set' : 'removed'
    yield* audit(tx, login.actor, at, { action: 'backup.passphrase', detail })
    yield* alert(tx, s, at, { about: 'backup-passphrase', isSet, ...login.actor })
  })
}
