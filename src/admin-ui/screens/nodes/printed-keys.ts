/** What `ssh-keygen -l` prints of host keys, as it is brought from a server's console. */

// Its bits, fingerprint, comment and type: sshkey_print of OpenSSH's ssh-keygen.c.
const LINE = /^\d+ (SHA256:[A-Za-z0-9+/]{43}) .* \((?:RSA|ECDSA|ED25519)\)$/
const BARE = /^SHA256:[A-Za-z0-9+/]{43}$/

/**
 * The fingerprints of a text that is nothing but such lines, or one fingerprint alone; null for any other: a warning of SSH
 * names the key of whoever answered, and that one must not come to be trusted.
 */
export function printedKeys(text: string): string[] | null {
  if (BARE.test(text.trim())) return [text.trim()]
  const lines = text.split('\n').map((line) => line.trim())
  const prints = lines.filter((line) => line !== '').map((line) => LINE.exec(line)?.[1])
  return prints.every((print) => print !== undefined) ? prints : null
}
