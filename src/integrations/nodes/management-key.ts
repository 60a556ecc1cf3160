/** The ed25519 key pair of node management, in OpenSSH's formats. */
import { isWholeEd25519 } from '#src/lib/host-key.ts'

/** A new pair. ssh2 is loaded here only, because a start that has its key needs none of it. */
export async function generateManagementKey(): Promise<{ privateKey: string; publicKey: string }> {
  const { default: ssh2 } = await import('ssh2')
  // ssh2 1.17 cuts a zero off a public key that begins with one, 1 in 256: no sshd takes such a pair (mscdex/ssh2#1513).
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment: 'subpanel' })
    if (isWholeEd25519(pair.public)) return { privateKey: pair.private, publicKey: pair.public }
  }
}
