/** What is derived from the secret of the installation. */
import { getInstallationSecret } from '#db/installation.ts'
import { hmacSha256 } from '#src/lib/crypto.ts'
import { base64url, fromHex, utf8 } from '#src/lib/encoding.ts'
import type { Services } from '#src/services.ts'

/** What an HMAC is for: one made for one purpose says nothing about those of another. */
type Purpose = 'shop subscription' | 'payment status'

/**
 * HMAC-SHA256 of these parts, keyed by the secret of the installation: 32 bytes that are the same in every process and after a
 * restore on another machine, and that nobody outside can compute. Other parts, or the same ones divided otherwise, give others.
 */
export function installationHmac(
  s: Pick<Services, 'db'>,
  purpose: Purpose,
  ...parts: string[]
): Uint8Array {
  const key = fromHex(getInstallationSecret(s.db))
  if (key?.length !== 32) throw new Error('the secret of the installation is damaged')
  // As JSON: no two lists of texts have the same.
  return hmacSha256(key, utf8(JSON.stringify([purpose, ...parts])))
}

/**
 * The id by which its owner names a subscription, 22 characters. Its uuid is what apps log in with at the node: whoever saw that
 * would need no list, and no place among the devices.
 */
export const ownIdOf = (s: Pick<Services, 'db'>, uuid: string): string =>
  base64url(installationHmac(s, 'shop subscription', uuid).subarray(0, 16))
