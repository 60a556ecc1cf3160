/** How events are signed, and what one attempt at sending makes of every kind of receiver. */
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createOutbound } from '#src/integrations/outbound.ts'
import { createEventSender, eventHeaders, standardSignature } from '#src/integrations/webhook.ts'
import { hmacSha256 } from '#src/lib/crypto.ts'
import { base64, fromBase64, hex, utf8 } from '#src/lib/encoding.ts'
import { VERSION } from '#src/lib/version.ts'
import { type Mood, startFakeSystem } from '#test/support/fakes/system.ts'

const SECRET = '0123456789abcdef'.repeat(4)
const request = {
  url: 'http://hook.test/',
  secret: SECRET,
  id: '3f1c2f0e-0000-4000-8000-000000000001',
  event: 'payment.paid',
  body: '{"id":"3f1c2f0e-0000-4000-8000-000000000001","event":"payment.paid","data":{"имя":"<&>😀"}}',
  at: new Date('2026-03-01T12:00:00.999Z'),
}

describe('signatures', () => {
  // RFC 4231, sections 4.2, 4.3 and 4.7.
  test.each([
    [
      new Uint8Array(20).fill(0x0b),
      'Hi There',
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    ],
    [
      utf8('Jefe'),
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [
      new Uint8Array(131).fill(0xaa),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
  ])('HMAC-SHA256 as RFC 4231 has it', (key, message, digest) => {
    expect(hex(hmacSha256(key, utf8(message)))).toBe(digest)
  })

  // From the reference libraries (standard-webhooks/standard-webhooks) and docs.svix.com/receiving/verifying-payloads.
  test('the signature of the published example of Standard Webhooks', () => {
    const key = fromBase64('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
    expect(standardSignature(key, id, '1614265330', '{"test": 2432232314}')).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    )
  })

  test('all headers of an event, the time in whole seconds', () => {
    expect(eventHeaders(request)).toEqual({
      'content-type': 'application/json',
      'user-agent': `subpanel/${VERSION}`,
      'x-event': 'payment.paid',
      'x-signature': hex(hmacSha256(utf8(SECRET), utf8(request.body))),
      'webhook-id': request.id,
      'webhook-timestamp': '1772366400',
      'webhook-signature': `v1,${base64(
        hmacSha256(utf8(SECRET), utf8(`${request.id}.1772366400.${request.body}`)),
      )}`,
    })
    expect(eventHeaders(request)['x-signature']).toMatch(/^[0-9a-f]{64}$/)
  })

  test('the public library takes them with whsec_ and the base64 of the stored text, and refuses what is changed', () => {
    const webhook = new Webhook(`whsec_${base64(utf8(SECRET))}`)
    const at = new Date()
    const headers = eventHeaders({ ...request, at })
    expect(webhook.verify(request.body, headers)).toEqual(JSON.parse(request.body))
    expect(() => webhook.verify(request.body.replace('paid', 'lost'), headers)).toThrow()
    expect(() => webhook.verify(request.body, { ...headers, 'webhook-id': 'other' })).toThrow()
    const old = eventHeaders({ ...request, at: new Date(at.getTime() - 3_600_000) })
    expect(() => webhook.verify(request.body, old)).toThrow('too old')
    const foreign = eventHeaders({ ...request, at, secret: `${SECRET}0` })
    expect(() => webhook.verify(request.body, foreign)).toThrow()
  })
})

let status = 200
const receiver = await startFakeSystem(() => ({ status, json: { ok: true } }))
const { port } = new URL(receiver.url)
beforeEach(() => {
  receiver.reset()
  status = 200
})
afterAll(() => receiver.close())

async function send(
  how: { url?: string; mood?: Mood; addresses?: string[]; denyPrivate?: boolean } = {},
) {
  receiver.mood = how.mood ?? null
  const outbound = createOutbound({
    denyPrivate: how.denyPrivate ?? false,
    resolve: async () => how.addresses ?? ['127.0.0.1'],
  })
  const sender = createEventSender({ outbound, timeoutMs: 300 })
  return sender.send({ ...request, url: how.url ?? `http://hook.test:${port}/in?x=1` })
}

describe('an attempt', () => {
  test('posts the body as it is, with its headers', async () => {
    expect(await send()).toEqual({ httpStatus: 200, error: null })
    expect(receiver.asked).toEqual([
      {
        method: 'POST',
        path: '/in?x=1',
        body: request.body,
        headers: expect.objectContaining({ ...eventHeaders(request), host: `hook.test:${port}` }),
      },
    ])
  })

  test.each([
    [200, null],
    [204, null],
    [299, null],
    [300, 'answered 300'],
    [400, 'answered 400'],
    [410, 'answered 410'],
    [429, 'answered 429'],
    [500, 'answered 500'],
    [503, 'answered 503'],
  ])('an answer %i is %j, and there is no second attempt', async (answer, error) => {
    status = answer
    expect(await send()).toEqual({ httpStatus: answer, error })
    expect(receiver.asked).toHaveLength(1)
  })

  test.each([
    ['silent', { httpStatus: null, error: 'no answer in time' }],
    ['dripping', { httpStatus: null, error: 'no answer in time' }],
    ['hanging up', { httpStatus: null, error: 'the connection was closed' }],
    ['redirecting', { httpStatus: 302, error: 'answered 302' }],
    ['a gateway error', { httpStatus: 502, error: 'answered 502' }],
    ['garbage', { httpStatus: 200, error: null }],
    ['no body', { httpStatus: 200, error: null }],
    ['html', { httpStatus: 200, error: null }],
    ['ten megabytes', { httpStatus: 200, error: null }],
  ] as const)('a receiver that is %s', async (mood, result) => {
    const began = performance.now()
    expect(await send({ mood })).toEqual(result)
    expect(performance.now() - began).toBeLessThan(1500)
    expect(receiver.asked).toHaveLength(1)
  })

  test('a receiver that breaks off has not accepted', async () => {
    expect(await send({ mood: 'breaking off' })).toMatchObject({ httpStatus: null })
  })

  test('a port where nobody listens', async () => {
    const result = { httpStatus: null, error: 'connection refused' }
    expect(await send({ url: 'http://hook.test:1/' })).toEqual(result)
  })

  test('a host that does not exist', async () => {
    const outbound = createOutbound({ denyPrivate: false })
    const url = 'http://nowhere.invalid/'
    const { httpStatus, error } = await createEventSender({ outbound }).send({ ...request, url })
    expect(httpStatus).toBeNull()
    expect(['the host is unknown', 'the host could not be looked up']).toContain(error)
  })

  test('text that is no address', async () => {
    expect(await send({ url: 'no address' })).toMatchObject({ httpStatus: null })
  })

  const REFUSED = { httpStatus: null, error: 'the address is not allowed' }
  const PRIVATE = ['127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '::1', 'fd12::1']

  test.each([
    ...['169.254.169.254', 'fe80::1', '0.0.0.0', '224.0.0.1', 'fd00:ec2::254'],
    ...['::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '100.100.100.200'],
  ])('a name that leads to %s is never followed', async (address) => {
    expect(await send({ addresses: [address] })).toEqual(REFUSED)
    const host = address.includes(':') ? `[${address}]` : address
    expect(await send({ url: `http://${host}:${port}/` })).toEqual(REFUSED)
    expect(receiver.asked).toEqual([])
  })

  test.each(PRIVATE)(
    'a name that leads to %s is not where private ones are denied',
    async (address) => {
      expect(await send({ addresses: [address], denyPrivate: true })).toEqual(REFUSED)
    },
  )
})
