/** Keys of a node. */
import { base64url, fromBase64 } from '#src/lib/encoding.ts'

/**
 * A REALITY key pair as Xray writes it: X25519, base64url without padding. The private key is clamped (RFC 7748, section 5),
 * which Node does and Bun does not, so that it equals what `xray x25519` prints.
 */
export async function generateRealityKeys(): Promise<{ privateKey: string; publicKey: string }> {
  const pair = (await crypto.subtle.generateKey('X25519', true, ['deriveBits'])) as CryptoKeyPair
  const jwk = await crypto.subtle.exportKey('jwk', pair.privateKey)
  const scalar = fromBase64(jwk.d as string)
  scalar[0] = (scalar[0] as number) & 248
  scalar[31] = ((scalar[31] as number) & 127) | 64
  return { privateKey: base64url(scalar), publicKey: jwk.x as string }
}
