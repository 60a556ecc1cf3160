/** What a new password must not be: anything that is tried first. */

import { nameKey } from '#src/lib/account-name.ts'
import { isCommonPassword } from '#src/lib/common-passwords.ts'
import { fieldRefusal } from '#src/refusals/index.ts'

const isOneCharacter = (password: string) => /^([\s\S])\1*$/u.test(password)
const isName = (password: string, username: string) => nameKey(password) === nameKey(username)

/** Digits and signs behind a common password are what is tried next. */
const isCommon = (password: string) =>
  isCommonPassword(password) || isCommonPassword(password.replace(/[\d\p{P}\p{S}]+$/u, ''))

/** Whether a password of an account is easy to guess. */
export const isWeakPassword = (password: string, username: string): boolean =>
  isOneCharacter(password) || isName(password, username) || isCommon(password)

/** Throws 400 for a password that is easy to guess. */
export function refuseWeakPassword(password: string, username: string): void {
  if (isOneCharacter(password)) throw fieldRefusal('password', 'one-character')
  if (isName(password, username)) throw fieldRefusal('password', 'same-as-username')
  if (isCommon(password)) {
    throw fieldRefusal('password', 'common-password')
  }
}
