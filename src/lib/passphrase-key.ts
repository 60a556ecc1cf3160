/** Keys made of passphrases by scrypt (RFC 7914), which makes every guess cost time and memory. */
import { scrypt } from 'node:crypto'
import { base64url, fromBase64, utf8 } from './encoding.ts'
import { randomBytes } from './random.ts'

/** N as its logarithm to base 2, r and p of RFC 7914: 128 * N * r bytes of memory for each guess. */
export interface ScryptCost {
  logN: number
  r: number
  p: number
}

/** What a passphrase becomes: the key itself, and what it takes to make it again. */
export interface PassphraseKey {
  cost: ScryptCost
  salt: Uint8Array<ArrayBuffer>
  key: Uint8Array<ArrayBuffer>
}

export const SALT_BYTES = 16
const KEY_BYTES = 32

/** 64 MB and a quarter of a second for each guess: one of the settings that OWASP's cheat sheet on password storage names. */
export const COST: ScryptCost = { logN: 16, r: 8, p: 2 }

const MAX_MEMORY_BYTES = 128 * 1024 ** 2

/**
 * Whether a key may be made at this cost, which a stranger may have named: at most 128 MB and four times the work of ours. N is below
 * 2^(16 r) for any algorithm that RFC 7914 calls scrypt (section 2).
 */
export const isBearable = ({ logN, r, p }: ScryptCost): boolean =>
  logN >= 14 &&
  logN <= 20 &&
  r >= 1 &&
  logN < 16 * r &&
  p >= 1 &&
  p <= 4 &&
  128 * 2 ** logN * r <= MAX_MEMORY_BYTES

/** Whether a guess costs as much memory and as much work as by our cost. */
export function isOurCost({ logN, r, p }: ScryptCost): boolean {
  const memory = 2 ** logN * r
  const ours = 2 ** COST.logN * COST.r
  return memory >= ours && memory * p >= ours * COST.p
}

/**
 * The key of a passphrase, of its UTF-8 text in Unicode's form NFC. By default with a new salt and the cost of today; takes a quarter
 * of a second and 64 MB, off the thread that asks.
 */
export function derivePassphraseKey(
  passphrase: string,
  salt: Uint8Array<ArrayBuffer> = randomBytes(SALT_BYTES),
  cost: ScryptCost = COST,
): Promise<PassphraseKey> {
  const { logN, r, p } = cost
  // The blocks that p counts, and a few of the algorithm's own, come on top.
  const maxmem = MAX_MEMORY_BYTES + 1024 ** 2
  return new Promise((resolve, reject) => {
    scrypt(
      utf8(passphrase.normalize('NFC')),
      salt,
      KEY_BYTES,
      { N: 2 ** logN, r, p, maxmem },
      (error, key) => (error ? reject(error) : resolve({ cost, salt, key: Uint8Array.from(key) })),
    )
  })
}

/** `scrypt$logN$r$p$salt$key`, salt and key in base64url. */
export const formatPassphraseKey = ({ cost, salt, key }: PassphraseKey): string =>
  ['scrypt', cost.logN, cost.r, cost.p, base64url(salt), base64url(key)].join('$')

/** The key that `formatPassphraseKey` wrote. Throws on any other text. */
export function parsePassphraseKey(text: string): PassphraseKey {
  const [algorithm, logN, r, p, salt = '', key = ''] = text.split('$')
  const found = {
    cost: { logN: Number(logN), r: Number(r), p: Number(p) },
    salt: fromBase64(salt),
    key: fromBase64(key),
  }
  const isWhole = found.salt.length === SALT_BYTES && found.key.length === KEY_BYTES
  if (algorithm !== 'scrypt' || !isWhole || !isBearable(found.cost))
    throw new Error('this is no key of a passphrase')
  return found
}
