/** The only source of randomness: the platform's CSPRNG. */
import { BASE32, base64url, hex } from './encoding.ts'

export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length))
}

/** 256 random bits as 43 base64url characters: session, pending, provision and user tokens. */
export const randomToken = (): string => base64url(randomBytes(32))

export const randomHex = (bytes: number): string => hex(randomBytes(bytes))

export const randomUuid = (): string => crypto.randomUUID()

/** Base32 characters (RFC 4648, section 6), 5 bits each. */
export function randomBase32(characters: number): string {
  return Array.from(randomBytes(characters), (byte) => BASE32[byte & 31]).join('')
}
