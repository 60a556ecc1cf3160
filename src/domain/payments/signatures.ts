/** Who sent a notice: what the gateways sign theirs with. Compared in constant time; an empty secret proves nothing. */
import { equalBytes, equalSecrets, hmacSha256, sha256Bytes } from '#src/lib/crypto.ts'
import { fromBase64, fromHex, utf8 } from '#src/lib/encoding.ts'

/** Base64 of 32 bytes, in either alphabet, padded or not. */
const BASE64_DIGEST = /^[A-Za-z0-9+/_-]{43}=?$/

/** The digest that a header carries, as hex or base64; null when it is neither. */
function parseDigest(text: string): Uint8Array | null {
  const digest = text.trim()
  if (BASE64_DIGEST.test(digest)) return fromBase64(digest)
  const bytes = fromHex(digest)
  return bytes?.length === 32 ? bytes : null
}

function isDigestOf(key: Uint8Array, body: Uint8Array, signature: string | null): boolean {
  const digest = signature === null ? null : parseDigest(signature)
  return digest !== null && equalBytes(hmacSha256(key, body), digest)
}

/** Provider B: the HMAC-SHA256 of the body as it came, keyed with the secret. */
export const isSignedByProviderB = (
  secret: string,
  body: Uint8Array,
  signature: string | null,
): boolean => secret !== '' && isDigestOf(utf8(secret), body, signature)

/** CryptoBot: the same keyed with the SHA-256 of the app's token (help.send.tg, Crypto Pay API, "Verifying webhook updates"). */
export const isSignedByCryptobot = (
  token: string,
  body: Uint8Array,
  signature: string | null,
): boolean => token !== '' && isDigestOf(sha256Bytes(token), body, signature)

/** Platega signs nothing: its callback carries the merchant's own id and secret (docs.platega.io, "Callback"). */
export function isPlategaCallback(
  shop: { shopId: string; secret: string },
  headers: { merchantId: string | null; secret: string | null },
): boolean {
  if (shop.shopId === '' || shop.secret === '') return false
  const known = equalSecrets(headers.merchantId ?? '', shop.shopId)
  return equalSecrets(headers.secret ?? '', shop.secret) && known
}
