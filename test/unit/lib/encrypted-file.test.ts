import { beforeAll, describe, expect, test } from 'vitest'
import {
  CHUNK_BYTES,
  DecryptionRefused,
  decryptChunks,
  encryptChunks,
  HEADER_BYTES,
  isEncrypted,
  readHeader,
} from '#src/lib/encrypted-file.ts'
import {
  COST,
  derivePassphraseKey,
  formatPassphraseKey,
  isBearable,
  type PassphraseKey,
  parsePassphraseKey,
  type ScryptCost,
} from '#src/lib/passphrase-key.ts'
import { decryptByDocs } from '#test/support/archives/decrypt.ts'

const PASSPHRASE = 'Лес за рекой, 1908'
/** The lightest that is read: all else is the same. */
const LIGHT: ScryptCost = { logN: 14, r: 1, p: 1 }
const SEALED_CHUNK = CHUNK_BYTES + 16
const DAMAGED = 'the encrypted file is damaged or cut off'

let key: PassphraseKey
beforeAll(async () => {
  key = await derivePassphraseKey(PASSPHRASE, undefined, LIGHT)
})

/** Bytes of which no chunk is like another. */
function content(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = i * 31 + (i >> 12)
  return bytes
}

const encrypt = (plain: Uint8Array, withKey = key) =>
  Buffer.concat([...encryptChunks([plain], withKey)])

/** What comes out before the end or a refusal, and the refusal. */
function read(file: Uint8Array, withKey = key): { bytes: Buffer; refusal: string | null } {
  const chunks: Uint8Array[] = []
  const outcome = (refusal: string | null) => ({ bytes: Buffer.concat(chunks), refusal })
  try {
    const header = readHeader(file.subarray(0, HEADER_BYTES))
    const body = [file.subarray(HEADER_BYTES)]
    for (const chunk of decryptChunks(header, withKey, body)) chunks.push(chunk)
    return outcome(null)
  } catch (error) {
    if (!(error instanceof DecryptionRefused)) throw error
    return outcome(error.message)
  }
}

describe('what is encrypted comes back', () => {
  test.each([
    ['nothing', 0, 1],
    ['one byte', 1, 1],
    ['a byte less than a chunk', CHUNK_BYTES - 1, 1],
    ['a chunk', CHUNK_BYTES, 1],
    ['a byte more', CHUNK_BYTES + 1, 2],
    ['two chunks', 2 * CHUNK_BYTES, 2],
    ['two chunks and a half', 2.5 * CHUNK_BYTES, 3],
  ])('%s', (_name, length, chunks) => {
    const plain = content(length)
    const file = encrypt(plain)
    expect(file.length).toBe(HEADER_BYTES + length + 16 * chunks)
    expect(read(file)).toEqual({ bytes: Buffer.from(plain), refusal: null })
  })

  test('however it is cut into pieces', () => {
    const plain = content(2.5 * CHUNK_BYTES)
    function* pieces(bytes: Uint8Array, size: number) {
      for (let at = 0; at < bytes.length; at += size) {
        yield bytes.subarray(at, at + size)
        yield new Uint8Array()
      }
    }
    const file = Buffer.concat([...encryptChunks(pieces(plain, 70_001), key)])
    const header = readHeader(file.subarray(0, HEADER_BYTES))
    const body = pieces(file.subarray(HEADER_BYTES), 33_333)
    const found = Buffer.concat([...decryptChunks(header, key, body)])
    expect(found.equals(plain)).toBe(true)
  })

  test('by chunks: no more of the source is taken than the next one needs', () => {
    let taken = 0
    function* source() {
      for (; taken < 100; taken++) yield new Uint8Array(CHUNK_BYTES / 4)
    }
    const file = encryptChunks(source(), key)
    file.next()
    expect(taken).toBe(0)
    file.next()
    expect(taken).toBe(4)
  })
})

test('two files of the same content share nothing but what the passphrase needs', () => {
  const [one, other] = [encrypt(content(1000)), encrypt(content(1000))]
  expect(one?.subarray(0, 28)).toEqual(other?.subarray(0, 28))
  for (let at = 28; at + 16 <= 1000; at += 16)
    expect(one?.subarray(at, at + 16).equals(other?.subarray(at, at + 16) as Buffer)).toBe(false)
})

describe('damage', () => {
  const plain = content(2.5 * CHUNK_BYTES)
  let file: Buffer
  beforeAll(() => {
    file = encrypt(plain)
  })
  const chunk = (number: number) =>
    file.subarray(
      HEADER_BYTES + number * SEALED_CHUNK,
      Math.min(file.length, HEADER_BYTES + (number + 1) * SEALED_CHUNK),
    )
  const header = () => file.subarray(0, HEADER_BYTES)
  const flipped = (at: number, bit = 1) => {
    const copy = Buffer.from(file)
    copy[at] = (copy[at] as number) ^ bit
    return copy
  }
  /** A refusal, and nothing given but whole chunks from the beginning, as many as may be. */
  const expectRefused = (damaged: Uint8Array, message: string, chunks: number) => {
    const { bytes, refusal } = read(damaged)
    expect([refusal, bytes.length]).toEqual([message, chunks * CHUNK_BYTES])
    expect(bytes.equals(plain.subarray(0, bytes.length))).toBe(true)
  }

  test.each<[name: string, make: () => Uint8Array, chunks: number]>([
    ['the first chunk is missing', () => Buffer.concat([header(), chunk(1), chunk(2)]), 0],
    ['a chunk is missing', () => Buffer.concat([header(), chunk(0), chunk(2)]), 1],
    ['the last chunk is missing', () => Buffer.concat([header(), chunk(0), chunk(1)]), 1],
    ['all chunks but the first', () => Buffer.concat([header(), chunk(0)]), 0],
    ['all chunks', () => header(), 0],
    ['two chunks are swapped', () => Buffer.concat([header(), chunk(1), chunk(0), chunk(2)]), 0],
    ['a chunk comes twice', () => Buffer.concat([header(), chunk(0), chunk(0), chunk(1)]), 1],
    ['the last chunk comes twice', () => Buffer.concat([file, chunk(2)]), 2],
    ['the file comes twice', () => Buffer.concat([file, file]), 2],
    ['a byte follows', () => Buffer.concat([file, Buffer.of(0)]), 2],
    ['a megabyte follows', () => Buffer.concat([file, Buffer.alloc(CHUNK_BYTES)]), 2],
    ['a byte is missing at the end', () => file.subarray(0, -1), 2],
    ['the last tag is missing', () => file.subarray(0, -16), 2],
    ['a byte is missing in the middle', () => Buffer.concat([header(), chunk(0).subarray(1)]), 0],
    ['less than a tag is left', () => file.subarray(0, HEADER_BYTES + 2 * SEALED_CHUNK + 7), 2],
  ])('%s', (_name, make, chunks) => expectRefused(make(), DAMAGED, chunks))

  test('a last chunk of another file with the same passphrase', () => {
    const other = encrypt(content(2.5 * CHUNK_BYTES))
    const grafted = [header(), chunk(0), chunk(1), other.subarray(HEADER_BYTES + 2 * SEALED_CHUNK)]
    expectRefused(Buffer.concat(grafted), DAMAGED, 2)
  })

  test('the header of another file with the same passphrase', () => {
    const other = encrypt(content(10))
    const grafted = [other.subarray(0, HEADER_BYTES), file.subarray(HEADER_BYTES)]
    expectRefused(Buffer.concat(grafted), DAMAGED, 0)
  })

  test('any bit of a short file', () => {
    const short = encrypt(content(40))
    for (let at = 8; at < short.length; at++) {
      for (const bit of [1, 16, 128]) {
        const copy = Buffer.from(short)
        copy[at] = (copy[at] as number) ^ bit
        const { bytes, refusal } = read(copy)
        expect([at, bytes.length, refusal]).toEqual([at, 0, expect.any(String)])
      }
    }
  })

  test('any length of a short file', () => {
    const short = encrypt(content(40))
    for (let length = 0; length < short.length; length++)
      expect(read(short.subarray(0, length))).toEqual({ bytes: Buffer.alloc(0), refusal: DAMAGED })
  })

  test.each([
    ['the first chunk', HEADER_BYTES, 0],
    ['the tag of the first chunk', HEADER_BYTES + SEALED_CHUNK - 1, 0],
    ['the second chunk', HEADER_BYTES + SEALED_CHUNK + 5, 1],
    ['the last chunk', HEADER_BYTES + 2 * SEALED_CHUNK, 2],
  ])('a flipped bit in %s', (_name, at, chunks) => expectRefused(flipped(at), DAMAGED, chunks))

  test.each([
    ['the salt', 12],
    ['the salt of the file', 28],
    ['the check', HEADER_BYTES - 1],
  ])('a flipped bit in %s reads like a wrong passphrase', (_name, at) =>
    expectRefused(flipped(at), 'wrong passphrase', 0),
  )

  test('another passphrase', async () => {
    const other = await derivePassphraseKey(`${PASSPHRASE}!`, key.salt, LIGHT)
    expect(read(file, other)).toEqual({ bytes: Buffer.alloc(0), refusal: 'wrong passphrase' })
  })
})

describe('a header', () => {
  const withCost = (...cost: number[]) => {
    const head = encrypt(content(1)).subarray(0, HEADER_BYTES)
    head.set(cost, 8)
    return head
  }

  test('is known by its first eight bytes, whatever its version', () => {
    expect(isEncrypted(Buffer.from('SPBACKUP\x09'))).toBe(true)
    expect(isEncrypted(Buffer.from('SPBACKU'))).toBe(false)
    expect(isEncrypted(new Uint8Array())).toBe(false)
    expect(isEncrypted(Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0))).toBe(false)
  })

  test.each([
    ['of a later version', [2, 14, 1, 1], 'by a newer version'],
    ['that wants 256 MB', [1, 18, 8, 1], 'damaged'],
    ['that wants 32 GB', [1, 17, 255, 1], 'damaged'],
    ['that wants more than there is', [1, 255, 255, 255], 'damaged'],
    ['that wants too much work', [1, 17, 8, 5], 'damaged'],
    ['that costs a guess nothing', [1, 13, 8, 1], 'damaged'],
    ['without r', [1, 14, 0, 1], 'damaged'],
    ['without p', [1, 14, 1, 0], 'damaged'],
    ['that is no scrypt', [1, 20, 1, 1], 'damaged'],
    ['that is no scrypt, by one', [1, 16, 1, 1], 'damaged'],
  ])('%s is refused before anything is computed', (_name, cost, message) => {
    const attempt = () => readHeader(withCost(...cost))
    expect(attempt).toThrow(DecryptionRefused)
    expect(attempt).toThrow(message)
  })

  test('of the most that is borne is read, and opens its file', async () => {
    const heavy = await derivePassphraseKey(PASSPHRASE, undefined, { logN: 17, r: 8, p: 1 })
    expect(read(encrypt(content(5), heavy), heavy).refusal).toBe(null)
  })
})

describe('the key of a passphrase', () => {
  // RFC 7914, section 12, the third vector, as far as our 32 bytes go.
  test('is scrypt', async () => {
    const salt = new TextEncoder().encode('SodiumChloride') as Uint8Array<ArrayBuffer>
    const cost = { logN: 14, r: 8, p: 1 }
    const { key: bytes } = await derivePassphraseKey('pleaseletmein', salt, cost)
    expect(Buffer.from(bytes).toString('hex')).toBe(
      '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2',
    )
  })

  test('is the same however the letters are composed', async () => {
    const { salt } = key
    const [one, other] = ['é', 'e\u0301'].map((text) => derivePassphraseKey(text, salt, LIGHT))
    expect(await one).toEqual(await other)
  })

  test('has a salt of its own each time, and our cost is one that we read', async () => {
    const [one, other] = [await derivePassphraseKey('x'), await derivePassphraseKey('x')]
    expect(one.salt).not.toEqual(other.salt)
    expect([one.cost, isBearable(COST)]).toEqual([COST, true])
  })

  test('is written down and read again; other text is refused', () => {
    const text = formatPassphraseKey(key)
    expect(text).toMatch(/^scrypt\$14\$1\$1\$[\w-]{22}\$[\w-]{43}$/)
    expect(parsePassphraseKey(text)).toEqual(key)
    for (const bad of ['', 'scrypt', text.slice(0, -3), text.replace('$14$', '$40$')])
      expect(() => parsePassphraseKey(bad)).toThrow()
  })
})

test('the program in docs/backup.md, which knows nothing of ours, reads what we write', async () => {
  const plain = content(2.5 * CHUNK_BYTES)
  const file = encrypt(plain, await derivePassphraseKey(PASSPHRASE))
  expect(decryptByDocs(file, PASSPHRASE).equals(plain)).toBe(true)
  const cut = file.subarray(0, HEADER_BYTES + 2 * SEALED_CHUNK)
  expect(() => decryptByDocs(cut, PASSPHRASE)).toThrow()
  expect(() => decryptByDocs(file, 'another one')).toThrow('wrong passphrase')
})
