/** Who sent a notice: the HMAC-SHA256 of its body. */
import { equalBytes, hmacSha256 } from '#src/lib/crypto.ts'
import { fromBase64, fromHex } from '#src/lib/encoding.ts'

/** Base64 of 32 bytes, in either alphabet, padded or not. */
const BASE64_DIGEST = /^[A-Za-z0-9+/_-]{43}=?$/

/** The digest that a header carries, as hex or base64; null when it is neither. */
function parseDigest(text: string): Uint8Array | null {
  const digest = text.trim()
  if (BASE64_DIGEST.test(digest)) return fromBase64(digest)
  const bytes = fromHex(digest)
  return bytes?.length === 32 ? bytes : null
}

/** Whether a header is the HMAC-SHA256 of the body as it came, in hex or base64. Compared in constant time. */
export function isDigestOf(key: Uint8Array, body: Uint8Array, signature: string | null): boolean {
  const digest = signature === null ? null : parseDigest(signature)
  return digest !== null && equalBytes(hmacSha256(key, body), digest)
}
