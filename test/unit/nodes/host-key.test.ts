import { describe, expect, test } from 'vitest'
import { hostKeyAlgorithms } from '#src/integrations/nodes/ssh-connection.ts'
import {
  fingerprintOf,
  hostKeyOf,
  isWholeEd25519,
  parseHostKey,
  splitHostKeys,
} from '#src/lib/host-key.ts'

/** A key and its fingerprint as ssh-keygen 9.2 wrote them. */
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDTC55uxBOGQeuSKIBl8ur1WHJyklQbO+Y1dWN6A78pG'
const PRINT = 'SHA256:1XZO5i1ogCXx6ysrrshAh6lE3jXd85pLdTC48XhGk9E'
const BLOB = Buffer.from(KEY.split(' ')[1] as string, 'base64')

describe('a line of a public key file', () => {
  test.each([
    ['as it is', KEY],
    ['with a comment', `${KEY} root@server`],
    ['with spaces around it', `  ${KEY.replace(' ', '\t')}  \r`],
  ])('is read %s', (_name, line) => {
    expect(parseHostKey(line)).toBe(KEY)
  })

  test.each([
    ['nothing', ''],
    ['a type alone', 'ssh-ed25519'],
    ['text that is no base64', `ssh-ed25519 ${'*'.repeat(68)}`],
    ['base64 of another length', `ssh-ed25519 ${KEY.slice(12, -1)}`],
    ['a type that is not the one of the key', KEY.replace('ed25519', 'rsa')],
    ['options before the key', `command="x" ${KEY}`],
    ['bytes that are no key', `ssh-ed25519 ${Buffer.alloc(51, 1).toString('base64')}`],
  ])('is refused: %s', (_name, line) => {
    expect(parseHostKey(line)).toBeNull()
  })
})

test('the fingerprint is what ssh-keygen shows', () => {
  expect(fingerprintOf(KEY)).toBe(PRINT)
  expect(fingerprintOf('nonsense')).toBe('unreadable')
})

test('a key on the wire is the one of the file', () => {
  expect(hostKeyOf(BLOB)).toBe(KEY)
  expect(hostKeyOf(Buffer.concat([Buffer.alloc(7), BLOB]).subarray(7))).toBe(KEY)
  expect(hostKeyOf(new Uint8Array(3))).toBe(' AAAA')
})

test('an ed25519 key of 31 bytes, as ssh2 makes some, is not whole', () => {
  const cut = 'AAAAC3NzaC1lZDI1NTE5AAAAH6KGBjz1Gs/htyurQV9s33wZlSKrwURrCVfUL+4PzzY='
  expect(isWholeEd25519(`${KEY} subpanel`)).toBe(true)
  for (const line of [`ssh-ed25519 ${cut} subpanel`, KEY.slice(0, -2), KEY.slice(12), '']) {
    expect(isWholeEd25519(line), line).toBe(false)
  }
})

test('the keys of a node are its lines', () => {
  expect(splitHostKeys(null)).toEqual([])
  expect(splitHostKeys('')).toEqual([])
  expect(splitHostKeys('a b\nc d\n')).toEqual(['a b', 'c d'])
})

describe('the server is asked for a key', () => {
  test('of ed25519 first when none is pinned, and never by SHA-1', () => {
    expect(hostKeyAlgorithms([])[0]).toBe('ssh-ed25519')
    expect(hostKeyAlgorithms([])).not.toContain('ssh-rsa')
  })

  test('of a pinned type first, of the others after it', () => {
    expect(hostKeyAlgorithms(['ssh-rsa AAAA']).slice(0, 3)).toEqual([
      'rsa-sha2-512',
      'rsa-sha2-256',
      'ssh-ed25519',
    ])
    const both = hostKeyAlgorithms(['ecdsa-sha2-nistp256 AAAA', 'ssh-ed25519 AAAA'])
    expect(both.slice(0, 2)).toEqual(['ssh-ed25519', 'ecdsa-sha2-nistp256'])
    expect(new Set(both).size).toBe(6)
  })
})
