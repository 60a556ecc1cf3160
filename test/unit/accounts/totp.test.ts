import { describe, expect, test } from 'vitest'
import { fromBase32 } from '#src/lib/encoding.ts'
import { findTotpStep, generateTotpSecret, parseTotpSecret, totpUri } from '#src/lib/totp.ts'
import { codeAt, SECRET } from '#test/support/calls/admins.ts'

/** RFC 4648, section 10, without padding. */
test.each([
  ['', ''],
  ['MY', 'f'],
  ['MZXQ', 'fo'],
  ['MZXW6', 'foo'],
  ['MZXW6YQ', 'foob'],
  ['MZXW6YTB', 'fooba'],
  ['MZXW6YTBOI', 'foobar'],
])('base32 %s is %s', (text, bytes) => {
  expect(Buffer.from(fromBase32(text) as Uint8Array).toString()).toBe(bytes)
})

test.each(['my', 'M Y', 'MY======', 'M1', 'М'])('%j is no base32', (text) => {
  expect(fromBase32(text)).toBeNull()
})

/** RFC 6238, appendix B, SHA1; the last six of its eight digits. The secret is `12345678901234567890`. */
const VECTORS: [seconds: number, code: string][] = [
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
]
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

describe('codes', () => {
  test.each(VECTORS)('at %i s the code of RFC 6238 is %s', (seconds, code) => {
    const at = new Date(seconds * 1000)
    expect(findTotpStep(RFC_SECRET, code, at)).toBe(Math.floor(seconds / 30))
    expect(codeAt(RFC_SECRET, at)).toBe(code)
  })

  const now = new Date('2026-03-01T12:00:00Z')
  const current = now.getTime() / 30_000
  /** The first and the last millisecond of the current step. */
  const edges = [now, new Date(now.getTime() + 29_999)]

  test.each([
    [-2, null],
    [-1, current - 1],
    [0, current],
    [1, current + 1],
    [2, null],
  ])('the code %i steps away belongs to step %s', (steps, step) => {
    for (const at of edges) {
      expect(findTotpStep(SECRET, codeAt(SECRET, now, steps), at)).toBe(step)
    }
  })

  test('spaces inside a code do not matter', () => {
    const code = codeAt(SECRET, now)
    const grouped = ` ${code.slice(0, 3)} ${code.slice(3)}\n`
    expect(findTotpStep(SECRET, grouped, now)).toBe(current)
  })

  test.each(['', '12345', '1234567', 'abcdef', '１２３４５６', '-12345', '1e5000', '0x1234'])(
    '%j is never a code',
    (code) => expect(findTotpStep(SECRET, code, now)).toBeNull(),
  )

  test('at the beginning of time there is no step before the first', () => {
    const start = new Date(0)
    expect(findTotpStep(SECRET, codeAt(SECRET, start), start)).toBe(0)
  })
})

describe('secrets', () => {
  test('have 160 bits and are never the same', () => {
    const secrets = Array.from({ length: 200 }, generateTotpSecret)
    for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(fromBase32(secrets[0] as string)).toHaveLength(20)
    expect(new Set(secrets).size).toBe(200)
  })

  test.each([
    ['jbsw y3dp ehpk 3pxp', 'JBSWY3DPEHPK3PXP'],
    ['JBSW-Y3DP-EHPK-3PXP====', 'JBSWY3DPEHPK3PXP'],
    ['JBSWY3DPEHPK3PX', null],
    ['JBSWY3DPEHPK3PX0', null],
    ['A'.repeat(128), 'A'.repeat(128)],
    ['A'.repeat(129), null],
    ['', null],
  ])('%s is read as %s', (text, secret) => expect(parseTotpSecret(text)).toBe(secret))
})

/**
 * What an app makes of the URI. Aegis (GoogleAuthInfo.parseUri, on android.net.Uri) takes the whole label for the account when
 * it has two colons; Google Authenticator and 1Password read the label's prefix and `issuer`, percent-decoded: `+` stays `+`.
 */
function readByApp(uri: string) {
  const [, label, query] = /^otpauth:\/\/totp\/([^?]*)\?(.*)$/.exec(uri) as unknown as string[]
  const parts = decodeURIComponent(label as string).split(':')
  const parameters = Object.fromEntries(
    (query as string).split('&').map((pair) => pair.split('=').map(decodeURIComponent)),
  )
  const [issuer, account] = parts.length === 2 ? parts : ['', parts.join(':')]
  return { issuer, account, parameters }
}

describe('the URI', () => {
  test('is the example of the Key Uri Format', () => {
    expect(totpUri('ACME Co', 'john.doe@email.com', 'HXDMVJECJJWSRB3HWIZR4IFUGFTMXBOZ')).toBe(
      'otpauth://totp/ACME%20Co:john.doe%40email.com?secret=HXDMVJECJJWSRB3HWIZR4IFUGFTMXBOZ&issuer=ACME%20Co&algorithm=SHA1&digits=6&period=30',
    )
  })

  test.each([
    ['Subpanel', 'admin', 'Subpanel', 'admin'],
    ['My Fast VPN', 'two words', 'My Fast VPN', 'two words'],
    ['A+B & C=D?', 'a+b', 'A+B & C=D?', 'a+b'],
    ['VPN: fast', 'ad:min', 'VPN fast', 'ad min'],
    ['Быстрый ВПН', 'Админ', 'Быстрый ВПН', 'Админ'],
    ['100% #1/2', 'x/y', '100% #1/2', 'x/y'],
  ])('of %s and %s is read as such', (brand, username, issuer, account) => {
    const uri = totpUri(brand, username, SECRET)
    expect(uri).not.toContain('+')
    expect(readByApp(uri)).toEqual({
      issuer,
      account,
      parameters: { secret: SECRET, issuer, algorithm: 'SHA1', digits: '6', period: '30' },
    })
    // What reads URIs by the URL standard sees the same.
    expect(new URL(uri).searchParams.get('issuer')).toBe(issuer)
  })
})
