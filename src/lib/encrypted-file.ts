/**
 * Files encrypted to a passphrase: a header, then chunks of AES-256-GCM whose order and end are part of what is authenticated (the
 * STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár, 2015). docs/backup.md has the format byte by byte.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { equalBytes } from './crypto.ts'
import { isBearable, type PassphraseKey, SALT_BYTES, type ScryptCost } from './passphrase-key.ts'
import { randomBytes } from './random.ts'

const MAGIC = Buffer.from('SPBACKUP', 'latin1')
const VERSION = 1
const FILE_SALT_BYTES = 32
const CHECK_BYTES = 32
/** Magic, version, logN, r, p. */
const COST_END = MAGIC.length + 4
const SALT_END = COST_END + SALT_BYTES
const FILE_SALT_END = SALT_END + FILE_SALT_BYTES
export const HEADER_BYTES = FILE_SALT_END + CHECK_BYTES

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const PREFIX_BYTES = 7
const TAG_BYTES = 16
/** What a chunk holds; only the last one may hold less. */
export const CHUNK_BYTES = 1024 ** 2

/** A file that can't be decrypted; the message quotes nothing of it. */
export class DecryptionRefused extends Error {}

const DAMAGED = 'the encrypted file is damaged or cut off'

/** Whether a file that begins so is one of these, whatever its version. */
export const isEncrypted = (head: Uint8Array): boolean =>
  MAGIC.equals(head.subarray(0, MAGIC.length))

/** What a passphrase and the header's first fields make: nonces begin with `prefix`, and `check` ends the header. */
function deriveFileKeys(passphraseKey: PassphraseKey, fields: Buffer) {
  const fileSalt = fields.subarray(SALT_END, FILE_SALT_END)
  const length = KEY_BYTES + PREFIX_BYTES + CHECK_BYTES
  const bytes = Buffer.from(hkdfSync('sha256', passphraseKey.key, fileSalt, fields, length))
  return {
    key: bytes.subarray(0, KEY_BYTES),
    prefix: bytes.subarray(KEY_BYTES, KEY_BYTES + PREFIX_BYTES),
    check: bytes.subarray(KEY_BYTES + PREFIX_BYTES),
  }
}

/** The nonce of a chunk: no other chunk can stand in its place, and none but the last one can end the file. */
function nonceOf(prefix: Uint8Array, counter: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(PREFIX_BYTES + 5)
  nonce.set(prefix)
  nonce.writeUInt32BE(counter, PREFIX_BYTES)
  nonce.writeUInt8(isLast ? 1 : 0, PREFIX_BYTES + 4)
  return nonce
}

/** The same bytes in pieces of `size`, of which the last may be shorter; there is always one. A piece is good until the next. */
function* regroup(
  source: Iterable<Uint8Array>,
  size: number,
): Generator<{ piece: Uint8Array; isLast: boolean }> {
  const buffer = new Uint8Array(size)
  let filled = 0
  for (const bytes of source) {
    for (let at = 0; at < bytes.length; ) {
      if (filled === size) {
        yield { piece: buffer, isLast: false }
        filled = 0
      }
      const part = bytes.subarray(at, at + size - filled)
      buffer.set(part, filled)
      filled += part.length
      at += part.length
    }
  }
  yield { piece: buffer.subarray(0, filled), isLast: true }
}

/** The bytes of an encrypted file, made as they are asked for: the header, then chunk by chunk. */
export function* encryptChunks(
  plain: Iterable<Uint8Array>,
  passphraseKey: PassphraseKey,
): Generator<Uint8Array> {
  const { logN, r, p } = passphraseKey.cost
  const cost = Uint8Array.of(VERSION, logN, r, p)
  const fields = Buffer.concat([MAGIC, cost, passphraseKey.salt, randomBytes(FILE_SALT_BYTES)])
  const { key, prefix, check } = deriveFileKeys(passphraseKey, fields)
  const header = Buffer.concat([fields, check])
  yield header
  let counter = 0
  for (const { piece, isLast } of regroup(plain, CHUNK_BYTES)) {
    const nonce = nonceOf(prefix, counter++, isLast)
    const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(header)
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()])
  }
}

/** What a header says of the passphrase's key. */
export interface EncryptedHeader {
  bytes: Buffer
  cost: ScryptCost
  salt: Uint8Array<ArrayBuffer>
}

/**
 * Reads the first HEADER_BYTES of a file. Throws DecryptionRefused when they are no header of a version that is known, or ask for
 * more work or memory than is borne.
 */
export function readHeader(head: Uint8Array): EncryptedHeader {
  const bytes = Buffer.from(head)
  const [version, logN = 0, r = 0, p = 0] = bytes.subarray(MAGIC.length, COST_END)
  if (!isEncrypted(bytes) || bytes.length !== HEADER_BYTES) throw new DecryptionRefused(DAMAGED)
  if (version !== VERSION)
    throw new DecryptionRefused(
      'the file was encrypted by a newer version of Subpanel: update the program',
    )
  const cost = { logN, r, p }
  if (!isBearable(cost)) throw new DecryptionRefused(DAMAGED)
  return { bytes, cost, salt: Uint8Array.from(bytes.subarray(COST_END, SALT_END)) }
}

function decrypt(
  piece: Uint8Array,
  { key, nonce, header }: { key: Uint8Array; nonce: Uint8Array; header: Uint8Array },
): Buffer {
  if (piece.length < TAG_BYTES) throw new DecryptionRefused(DAMAGED)
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(header)
  decipher.setAuthTag(piece.subarray(-TAG_BYTES))
  const content = decipher.update(piece.subarray(0, -TAG_BYTES))
  try {
    return Buffer.concat([content, decipher.final()])
  } catch {
    throw new DecryptionRefused(DAMAGED)
  }
}

/**
 * What an encrypted file holds, of the bytes behind its header: chunk by chunk, each authenticated before it is given. Throws
 * DecryptionRefused: `wrong passphrase` before anything else, for damage of any kind where it comes up. Only an end without a
 * throw says that the file was whole.
 */
export function* decryptChunks(
  header: EncryptedHeader,
  passphraseKey: PassphraseKey,
  body: Iterable<Uint8Array>,
): Generator<Uint8Array> {
  const fields = header.bytes.subarray(0, FILE_SALT_END)
  const { key, prefix, check } = deriveFileKeys(passphraseKey, fields)
  if (!equalBytes(check, header.bytes.subarray(FILE_SALT_END)))
    throw new DecryptionRefused('wrong passphrase')
  let counter = 0
  for (const { piece, isLast } of regroup(body, CHUNK_BYTES + TAG_BYTES)) {
    const nonce = nonceOf(prefix, counter, isLast)
    const content = decrypt(piece, { key, nonce, header: header.bytes })
    // Whoever writes one knows that the chunk before it was the last.
    if (content.length === 0 && counter > 0) throw new DecryptionRefused(DAMAGED)
    counter++
    yield content
  }
}
