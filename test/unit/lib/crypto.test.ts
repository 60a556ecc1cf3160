import { describe, expect, test } from 'vitest'
import { equalBytes, hashPassword, sha256Hex, verifyPassword } from '#src/lib/crypto.ts'
import { base64url, utf8 } from '#src/lib/encoding.ts'

const fromHex = (text: string) =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

// FIPS 180-4, as NIST's example values give them.
test.each([
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
])('SHA-256 of %j', (text, digest) => {
  expect(sha256Hex(text)).toBe(digest)
})

describe('passwords', () => {
  // RFC 7914, section 11: the first 32 bytes of each vector.
  test.each([
    ['passwd', 'salt', 1, '55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc'],
    [
      'Password',
      'NaCl',
      80_000,
      '4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56',
    ],
  ])('PBKDF2-HMAC-SHA-256 of %s with %s, %i times', async (password, salt, iterations, key) => {
    const stored = (bytes: Uint8Array) =>
      `pbkdf2-sha256$${iterations}$${base64url(utf8(salt))}$${base64url(bytes)}`
    const bytes = fromHex(key)
    expect(await verifyPassword(password, stored(bytes))).toBe(true)
    expect(await verifyPassword(`${password} `, stored(bytes))).toBe(false)
    bytes[31] = (bytes[31] as number) ^ 1
    expect(await verifyPassword(password, stored(bytes))).toBe(false)
    expect(await verifyPassword(password, stored(fromHex(key).slice(0, 31)))).toBe(false)
  })

  test('are stored with 200000 iterations and a salt of their own', async () => {
    const [one, two] = await Promise.all([hashPassword('пароль 💩'), hashPassword('пароль 💩')])
    expect(one).toMatch(/^pbkdf2-sha256\$200000\$[A-Za-z0-9_-]{22}\$[A-Za-z0-9_-]{43}$/)
    expect(one).not.toBe(two)
    expect(await verifyPassword('пароль 💩', one as string)).toBe(true)
    expect(await verifyPassword('', one as string)).toBe(false)
  })

  test.each([
    '',
    'x',
    'bcrypt$1$AA$AA',
    'pbkdf2-sha256',
    'pbkdf2-sha256$1$$',
    'pbkdf2-sha256$1$AA',
  ])('never fit the stored text %j', async (stored) => {
    expect(await verifyPassword('', stored)).toBe(false)
  })
})

test.each<[number[], number[], boolean]>([
  [[], [], true],
  [[1, 2], [1, 2], true],
  [[1, 2], [1, 3], false],
  [[1, 2], [3, 2], false],
  [[1, 2], [1], false],
  [[1], [1, 2], false],
  [[1, 1], [1], false],
  [[0], [], false],
  [[], [0], false],
])('%j equals %j: %s', (a, b, equal) => {
  expect(equalBytes(Uint8Array.from(a), Uint8Array.from(b))).toBe(equal)
})
