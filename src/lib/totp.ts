/** Time-based one-time passwords (RFC 6238) as every authenticator app makes them: HMAC-SHA1, six digits, steps of 30 s. */
import { verifyHOTP } from '@oslojs/otp'
import { fromBase32 } from './encoding.ts'
import { randomBase32 } from './random.ts'

const STEP_MS = 30_000
const DIGITS = 6
const CODE = /^\d{6}$/
/** 160 bits, as RFC 4226, section 4 wants; a multiple of eight characters, so no app stumbles over missing padding. */
const SECRET_CHARACTERS = 32
/** The form in which a secret is stored. */
export const TOTP_SECRET = /^[A-Z2-7]{16,128}$/

export const generateTotpSecret = (): string => randomBase32(SECRET_CHARACTERS)

/** A secret as people and apps write it (small letters, groups, padding) in the one form that is stored; null when it is none. */
export function parseTotpSecret(text: string): string | null {
  const secret = text.replace(/[\s=-]/g, '').toUpperCase()
  return TOTP_SECRET.test(secret) ? secret : null
}

/**
 * The step whose code this is: that of `now`, the one before or the one after. Null when it is none of them. Spaces, which apps
 * show inside a code, do not matter.
 */
export function findTotpStep(secret: string, code: string, now: Date): number | null {
  const key = fromBase32(secret)
  const digits = code.replace(/\s/g, '')
  if (!key || !CODE.test(digits)) return null
  const current = Math.floor(now.getTime() / STEP_MS)
  const steps = [current - 1, current, current + 1].filter((step) => step >= 0)
  return steps.find((step) => verifyHOTP(key, BigInt(step), DIGITS, digits)) ?? null
}

/** Apps take the first colon of a label as its separator; some drop the issuer when there is a second one (Aegis). */
const labelPart = (text: string) => encodeURIComponent(text.replace(/[\s:]+/g, ' ').trim())

/**
 * The URI that authenticator apps read from a QR code (google/google-authenticator wiki, "Key Uri Format"). Written by hand,
 * because URLSearchParams makes a space `+`, which apps show as it is.
 */
export function totpUri(issuer: string, account: string, secret: string): string {
  const name = labelPart(issuer)
  return `otpauth://totp/${name}:${labelPart(account)}?secret=${secret}&issuer=${name}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_MS / 1000}`
}
