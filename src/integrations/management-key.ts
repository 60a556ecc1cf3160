/** The ed25519 key pair of node management, in OpenSSH's formats. */

/** A new pair. ssh2 is loaded here only, because a start that has its key needs none of it. */
export async function generateManagementKey(): Promise<{ privateKey: string; publicKey: string }> {
  const { default: ssh2 } = await import('ssh2')
  const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment: 'subpanel' })
  return { privateKey: pair.private, publicKey: pair.public }
}
