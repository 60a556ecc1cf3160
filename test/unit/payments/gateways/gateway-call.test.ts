import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  callGateway,
  gatewayWords,
  isRefusal,
  momentOf,
  moneyText,
  unanswered,
} from '#src/integrations/payments/gateway-call.ts'
import { paymentSchema } from '#src/integrations/payments/provider-a/answers.ts'
import { utf8 } from '#src/lib/encoding.ts'
import { cut } from '#src/lib/format.ts'

const call = (outbound: Parameters<typeof callGateway>[0], signal = AbortSignal.timeout(1000)) =>
  callGateway(outbound, { method: 'GET', url: 'https://api.test', headers: {}, signal })

describe('an answer', () => {
  test('that was cut is not read, whatever its beginning says', async () => {
    const body = utf8('{"status":"paid"}')
    const answer = await call(async () => ({ status: 200, body, complete: false }))
    expect(answer).toEqual({ status: 200, body: null })
  })

  test.each([
    [Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'connection refused'],
    [
      Object.assign(new Error('x'), { code: 'CERT_HAS_EXPIRED' }),
      'no connection (CERT_HAS_EXPIRED)',
    ],
    [new Error('GET https://api.test/secret failed'), 'no usable answer'],
    [
      new Error('x', { cause: Object.assign(new Error('y'), { code: 'ENOTFOUND' }) }),
      'the host is unknown',
    ],
    ['thrown text', 'no usable answer'],
  ])('that there is none of says why, without the message: %s', async (error, reason) => {
    expect(await call(() => Promise.reject(error))).toEqual({ status: null, reason })
  })

  test.each([
    [undefined, 60_000],
    ['7', 7000],
    ['0', 60_000],
    ['999999', 3_600_000],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 60_000],
    ['-5', 60_000],
  ])('429 with Retry-After %j wants to be left alone for %i ms', async (retryAfter, restMs) => {
    const body = utf8('{}')
    const answer = await call(async () => ({ status: 429, body, complete: true, retryAfter }))
    expect(answer).toEqual({ status: 429, body: {}, restMs })
    expect(unanswered(answer)).toEqual({ reason: 'too many requests', retryAfterMs: restMs })
    // What its body says is meant for us.
    expect(unanswered(answer, 5)).toMatchObject({ retryAfterMs: 5 })
  })

  test('of another status wants nothing, whatever its header says', async () => {
    const answer = await call(async () => ({
      ...{ status: 500, body: utf8('{}'), complete: true, retryAfter: '7' },
    }))
    expect(unanswered(answer)).toEqual({ reason: 'answered 500', retryAfterMs: null })
  })

  test('after the time is said to be late', async () => {
    const outbound = () => Promise.reject(new Error('aborted'))
    expect(await call(outbound, AbortSignal.abort())).toMatchObject({ reason: 'no answer in time' })
  })
})

test.each([
  [400, {}, true],
  [401, {}, true],
  [404, {}, true],
  [422, {}, true],
  [400, null, false],
  [408, {}, false],
  [409, {}, false],
  [425, {}, false],
  [429, {}, false],
  [500, {}, false],
  [302, {}, false],
  [200, {}, false],
] as const)('%i with the body %j is a refusal: %s', (status, body, expected) => {
  expect(isRefusal({ status, body })).toBe(expected)
})

test('who gave no answer has refused nothing', () => {
  expect(isRefusal({ status: null, reason: 'x' })).toBe(false)
  expect(unanswered({ status: null, reason: 'x' }, 5)).toEqual({ reason: 'x', retryAfterMs: 5 })
})

test.each([
  ['199', '199.00'],
  [199, '199.00'],
  ['199.0', '199.00'],
  ['199.00', '199.00'],
  [199.01, '199.01'],
  ['199.001', '199.001'],
  ['199.100', '199.10'],
  ['0.5', '0.50'],
  [0, '0.00'],
  ['', null],
  ['-1', null],
  ['+1', null],
  ['1e3', null],
  [1e21, null],
  [Number.NaN, null],
  ['1,00', null],
  ['1.', null],
  ['.5', null],
  [' 1', null],
  ['0x10', null],
  ['9'.repeat(16), null],
])('the amount %j is %j', (value, expected) => {
  expect(moneyText(value)).toBe(expected)
})

test('words of a gateway are one short line without secrets', () => {
  expect(gatewayWords(' no\n\u0000key\u2028 K1 or K1 ', ['K1', ''])).toBe('no key *** or ***')
  expect(gatewayWords('x'.repeat(500), [])).toHaveLength(200)
  expect(gatewayWords({ a: 1 }, [])).toBe('')
})

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc'],
  ['ab😀', 3, 'ab'],
  ['ab😀', 4, 'ab😀'],
  ['', 3, ''],
])('%j cut to %i is %j', (text, characters, expected) => {
  expect(cut(text, characters)).toBe(expected)
})

test.each([
  ['2026-03-01T12:00:00.500Z', 1000, '2026-03-01T12:00:01.500Z'],
  ['9999-12-31T23:59:59Z', 0, '9999-12-31T23:59:59.000Z'],
  ['9999-12-31T23:59:59Z', 1, undefined],
  ['+275760-09-13T00:00:00Z', 1, undefined],
  ['-000001-01-01T00:00:00Z', 0, undefined],
  ['soon', 0, undefined],
  [null, 0, undefined],
])('the moment of %j and %i ms more is %s: what a timestamp can say', (text, laterMs, moment) => {
  expect(momentOf(text, laterMs)?.toISOString()).toBe(moment)
})

test('a currency of more than 64 characters makes a payment none', () => {
  const inCurrency = (currency: string) => ({
    id: 'x',
    status: 'succeeded',
    amount: { value: '1.00', currency },
  })
  expect(v.is(paymentSchema, inCurrency('X'.repeat(64)))).toBe(true)
  expect(v.is(paymentSchema, inCurrency('X'.repeat(65)))).toBe(false)
})
