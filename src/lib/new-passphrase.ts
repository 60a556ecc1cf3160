/** The rule for passphrases of backups. */
import * as v from 'valibot'
import { isCommonPassword } from './common-passwords.ts'
import { formatPassphraseKey, isOurCost, type PassphraseKey } from './passphrase-key.ts'
import { plainLine } from './values.ts'

const MIN_DIFFERENT = 6
const isEasyToGuess = (text: string) => new Set(text).size < MIN_DIFFERENT || isCommonPassword(text)

/** A passphrase that is chosen: one line, as terminals and files give it. */
export const newPassphrase = v.pipe(
  plainLine(1024),
  v.regex(/^[\s\S]{12,}$/u, 'must have at least 12 characters'),
  v.check((text) => !isEasyToGuess(text), 'is too easy to guess'),
)

/** The key of an archive as that of this machine's backups; null for one that nobody could have chosen here, or that costs less. */
export const adoptedKey = (key: PassphraseKey, passphrase: string | null): string | null =>
  isOurCost(key.cost) && v.is(newPassphrase, passphrase) ? formatPassphraseKey(key) : null
