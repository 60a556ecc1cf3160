import { afterEach, beforeEach, expect, test } from 'vitest'
import { expectDecent } from '#test/support/worlds/scenario.ts'
import { createShop, type Shop } from '#test/support/worlds/shop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})
afterEach(() => shop.w.close())

const ODD = [
  ...['%00', 'a%00b', '%F0%9F%92%A9', '%ff', '%', '%zz', '%2e%2e', '%2f', '..%2f..%2fetc'],
  ...['x'.repeat(5000), '__proto__', 'constructor', "'%20or%201=1--", '*', ':x', '%0d%0aX:1'],
]

test.each(ODD)('odd paths and queries are never a fault and change nothing: %s', async (odd) => {
  await shop.buy()
  const before = shop.w.dump()
  const requests: [method: string, path: string][] = [
    ['GET', `/api/cabinet/${odd}/shop`],
    ['POST', `/api/cabinet/${odd}/payments`],
    ['DELETE', `/api/cabinet/${odd}/devices/1`],
    ['DELETE', `/api/cabinet/${shop.token}/devices/${odd}`],
    ['GET', `/admin/api/payments?q=${odd}`],
    ['GET', `/admin/api/payments?node=${odd}&plan=${odd}`],
    ['GET', `/admin/api/payments?status=${odd}`],
    ['GET', `/admin/api/payments?cursor=${odd}`],
    ['POST', `/admin/api/payments/${odd}/check`],
    ['POST', `/admin/api/payments/${odd}/grant`],
    ['POST', `/admin/api/payments/${odd}/refunded`],
    ['POST', `/admin/api/payments/orphans/${odd}/resolve`],
    ['POST', `/payments/webhook/${odd}`],
  ]
  for (const [method, path] of requests) {
    const send = path.startsWith('/admin') ? shop.w.admin : shop.w.call
    const answer = await send(path, { method, ...(method === 'POST' ? { raw: '{}' } : {}) })
    expect([200, 400, 404], `${method} ${path.slice(0, 80)}: ${answer.text}`).toContain(
      answer.status,
    )
    expectDecent(path, answer)
    if (answer.status !== 200 && odd.length > 8) expect(answer.text).not.toContain(odd)
  }
  expect(shop.w.dump()).toBe(before)
})

const DEEP = '['.repeat(60_000) + ']'.repeat(60_000)
const BODIES: [what: string, body: string][] = [
  ['a deep list', DEEP],
  [
    'a deep list in an object',
    `{"object":${DEEP},"event":"payment.succeeded","id":${DEEP},"status":"paid"}`,
  ],
  [
    'a name of every object',
    '{"event":"payment.succeeded","object":{"metadata":{"__proto__":{"payment_id":"x"}}}}',
  ],
  [
    'half surrogates',
    '{"event":"\\ud800","id":"\\udfff","status":"paid","object":{"metadata":{"payment_id":"\\ud800"}}}',
  ],
  [
    'NUL',
    '{"event":"payment.succeeded","id":"\\u0000","status":"paid","object":{"id":"\\u0000","metadata":{"payment_id":"\\u0000"}}}',
  ],
  ['a huge number', '{"id":1e400,"status":"paid","amount":1e400}'],
  ['emoji and markup', '{"id":"<b>&\\"💩","status":"paid"}'],
]

test.each(BODIES)('notices with %s are never a fault and change nothing', async (_what, body) => {
  await shop.buy({ provider: 'provider_b' })
  const before = shop.w.dump()
  const a = await shop.w.call('/payments/webhook/provider_a', { raw: body })
  expect(a.status).toBe(400)
  const b = await shop.noticeB(body)
  expect([b.status, b.json]).toEqual([200, { ok: true }])
  await shop.w.s.background.idle()
  expect(shop.w.dump()).toBe(before)
  expect(shop.w.log.filter((line) => / error /.test(line))).toEqual([])
})
