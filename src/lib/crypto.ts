/** Password hashes, token digests and comparisons. */
import { createHash } from 'node:crypto'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64url, fromBase64, hex, utf8 } from './encoding.ts'
import { randomBytes } from './random.ts'

const PBKDF2_ITERATIONS = 200_000

/** Hex SHA-256 of text: what the database keeps of session and pending-login tokens. */
export const sha256Hex = (text: string): string => hex(sha256(utf8(text)))

/** SHA-256 of text, or its bytes, that comes in pieces; `hex` ends it. */
export function createSha256() {
  const sum = createHash('sha256')
  return {
    add(piece: string | Uint8Array): void {
      sum.update(piece)
    },
    hex: () => sum.digest('hex'),
  }
}

/** SHA-256 of text, as bytes. */
export const sha256Bytes = (text: string): Uint8Array => sha256(utf8(text))

/** HMAC-SHA256 (RFC 2104) of a message. */
export const hmacSha256 = (key: Uint8Array, message: Uint8Array): Uint8Array =>
  hmac(sha256, key, message)

async function pbkdf2(password: string, salt: Uint8Array<ArrayBuffer>, iterations: number) {
  const key = await crypto.subtle.importKey('raw', utf8(password), 'PBKDF2', false, ['deriveBits'])
  const bits = await crypto.subtle.deriveBits(
    { name: 'PBKDF2', hash: 'SHA-256', salt, iterations },
    key,
    256,
  )
  return new Uint8Array(bits)
}

/** `pbkdf2-sha256$200000$salt$hash`, salt and hash in base64url. Takes about 25 ms off the main thread. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await pbkdf2(password, salt, PBKDF2_ITERATIONS)
  return `pbkdf2-sha256$${PBKDF2_ITERATIONS}$${base64url(salt)}$${base64url(hash)}`
}

/** Whether the password belongs to the stored hash. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [algorithm, iterations, salt, expected] = stored.split('$')
  if (algorithm !== 'pbkdf2-sha256' || !iterations || !salt || !expected) return false
  const actual = await pbkdf2(password, fromBase64(salt), Number(iterations))
  return equalBytes(actual, fromBase64(expected))
}

/** Compares in a time that depends on the lengths only. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= (a[i] as number) ^ (b[i % b.length] ?? 0)
  return difference === 0
}

/** Compares secrets in a time that says nothing about them, not even how long they are. */
export const equalSecrets = (a: string, b: string): boolean =>
  equalBytes(sha256Bytes(a), sha256Bytes(b))
