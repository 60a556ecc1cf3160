import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { isSignedByCryptobot } from '#src/integrations/payments/cryptobot/notices.ts'
import {
  isPlategaCallback,
  isSignedByProviderB,
} from '#src/integrations/payments/provider-b/notices.ts'
import { utf8 } from '#src/lib/encoding.ts'
import cryptobot from '#test/fixtures/payments/cryptobot.json' with { type: 'json' }

const SECRET = 'секрет-key'
const BODY = utf8('{"id":"pay_1","status":"PAID","текст":"да"}')
const digest = (encoding: 'hex' | 'base64' | 'base64url', secret = SECRET, hash = 'sha256') =>
  createHmac(hash, secret).update(BODY).digest(encoding)
const hex = digest('hex')

describe('provider B', () => {
  test.each([
    ['hex', hex],
    ['upper-case hex', hex.toUpperCase()],
    ['base64', digest('base64')],
    ['base64 without padding', digest('base64').replace(/=+$/, '')],
    ['base64url', digest('base64url')],
    ['spaces around', ` ${hex} `],
  ])('its signature is known as %s', (_name, signature) => {
    expect(isSignedByProviderB(SECRET, BODY, signature)).toBe(true)
  })

  test.each([
    ['none', null],
    ['an empty one', ''],
    ['the first byte wrong', `${hex[0] === 'a' ? 'b' : 'a'}${hex.slice(1)}`],
    ['the last byte wrong', `${hex.slice(0, -1)}${hex.endsWith('a') ? 'b' : 'a'}`],
    ['a byte short', hex.slice(0, 62)],
    ['a byte long', `${hex}00`],
    ['twice', `${hex}, ${hex}`],
    ['half a byte short', hex.slice(0, 63)],
    ['of SHA-1', digest('hex', SECRET, 'sha1')],
    ['of SHA-512', digest('hex', SECRET, 'sha512')],
    ['of another secret', digest('hex', 'other')],
    ['of an empty secret', digest('hex', '')],
    ['with a prefix', `sha256=${hex}`],
    ['garbage', 'zzz'],
    ['base64 of something shorter', btoa('short')],
    ['43 letters that are no base64', `${'='.repeat(43)}`],
  ])('a wrong signature is refused: %s', (_name, signature) => {
    expect(isSignedByProviderB(SECRET, BODY, signature)).toBe(false)
  })

  test('another body is refused, be it by one blank', () => {
    expect(isSignedByProviderB(SECRET, new Uint8Array([...BODY, 0x20]), hex)).toBe(false)
    expect(isSignedByProviderB(SECRET, new Uint8Array(), hex)).toBe(false)
  })

  test('an empty secret proves nothing, whatever is sent', () => {
    for (const signature of [null, '', hex, digest('hex', ''), digest('base64', '')]) {
      expect(isSignedByProviderB('', BODY, signature)).toBe(false)
    }
  })
})

describe('CryptoBot', () => {
  const { token, body, hex: signature } = cryptobot.signature

  test('a signature that OpenSSL made is known', () => {
    expect(isSignedByCryptobot(token, utf8(body), signature)).toBe(true)
  })

  test('another token or body is refused', () => {
    expect(isSignedByCryptobot('12345:AAother', utf8(body), signature)).toBe(false)
    expect(isSignedByCryptobot(token, utf8(`${body} `), signature)).toBe(false)
    expect(isSignedByCryptobot(token, utf8(body), null)).toBe(false)
  })

  test('an empty token proves nothing, not even with the signature of one', () => {
    const key = createHash('sha256').update('').digest()
    const forged = createHmac('sha256', key).update(body).digest('hex')
    expect(isSignedByCryptobot('', utf8(body), forged)).toBe(false)
    expect(isSignedByCryptobot('', utf8(body), signature)).toBe(false)
  })

  test('the plain token is not the key', () => {
    const plain = createHmac('sha256', token).update(body).digest('hex')
    expect(isSignedByCryptobot(token, utf8(body), plain)).toBe(false)
  })
})

describe('Platega', () => {
  const shop = { shopId: 'm-1', secret: 's-1' }
  test.each([
    [{ merchantId: 'm-1', secret: 's-1' }, shop, true],
    [{ merchantId: 'm-1', secret: 's-2' }, shop, false],
    [{ merchantId: 'm-2', secret: 's-1' }, shop, false],
    [{ merchantId: 'm-1', secret: 's-1 ' }, shop, false],
    [{ merchantId: null, secret: 's-1' }, shop, false],
    [{ merchantId: 'm-1', secret: null }, shop, false],
    [{ merchantId: null, secret: null }, { shopId: '', secret: '' }, false],
    [{ merchantId: '', secret: '' }, { shopId: '', secret: '' }, false],
    [{ merchantId: 'm-1', secret: '' }, { shopId: 'm-1', secret: '' }, false],
    [{ merchantId: '', secret: 's-1' }, { shopId: '', secret: 's-1' }, false],
  ])('%j of the shop %j: %s', (headers, known, expected) => {
    expect(isPlategaCallback(known, headers)).toBe(expected)
  })
})
