import { expect } from 'vitest'
import { decode, drawn } from '#test/support/qr-decoder.ts'
import { type Ask, type Scenario, scenarios } from '#test/support/worlds/scenario.ts'

const asking = (body?: unknown): Ask => ({
  path: '/admin/api/qr',
  method: 'POST',
  ...(body === undefined ? {} : { body }),
})

const reads = (text: string, read = text): Scenario => ({
  name: `200 with a code that reads as ${JSON.stringify(read)}`,
  request: asking({ text }),
  status: 200,
  headers: { 'cache-control': 'private, no-store', 'content-type': 'application/json' },
  effects: (_w, _given, { json }) => {
    expect(Object.keys(json)).toEqual(['size', 'path'])
    expect(decode(drawn(json.size, json.path))).toBe(read)
  },
})

const refused = (name: string, body: unknown, error: string): Scenario => ({
  name: `400 for ${name}`,
  request: asking(body),
  status: 400,
  error,
})

const LINK = 'https://sub.example.test/sub/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo'

scenarios('POST /admin/api/qr', [
  reads('x'),
  reads('https://pay.test/1'),
  reads('https://t.me/aurora_bot?start=1'),
  reads('https://pay.test/checkout?order=1&amount=199.00'),
  reads(LINK),
  reads(`https://subscriptions.some-long-name.example${LINK.slice('https://sub.example'.length)}`),
  reads('otpauth://totp/A%20B:admin?secret=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567&issuer=A%20B'),
  reads(
    'otpauth://totp/Subpanel:admin?secret=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567&issuer=Subpanel&algorithm=SHA1&digits=6&period=30',
  ),
  reads(` ${LINK}\n`, LINK),
  {
    name: '200 for 1024 characters, in a code that has room for them',
    request: asking({ text: 'x'.repeat(1024) }),
    status: 200,
    effects: (_w, _given, { json }) => {
      // Version 26 (ISO/IEC 18004, table 7) and its quiet zone.
      expect(json.size).toBe(26 * 4 + 17 + 2 * 4)
      expect(drawn(json.size, json.path)).toHaveLength(json.size)
    },
  },
  {
    name: '200 and the text is neither stored nor noted',
    given: (w) => w.dump(),
    request: asking({ text: LINK }),
    status: 200,
    effects: (w, before) => {
      expect(w.dump()).toBe(before)
      expect(w.log.join('\n')).not.toContain(LINK)
    },
  },
  refused('no text', {}, 'text is missing or of the wrong type'),
  refused('a number', { text: 5 }, 'text must be a string'),
  refused('null', { text: null }, 'text must be a string'),
  refused('an empty text', { text: '' }, 'text must not be empty'),
  refused('spaces', { text: '  ' }, 'text must not be empty'),
  refused('1025 characters', { text: 'x'.repeat(1025) }, 'text must have at most 1024 characters'),
  refused('two lines', { text: 'a\nb' }, 'text must be one line without control characters'),
  refused('two words', { text: 'a b' }, 'text must be letters, digits and signs without spaces'),
  refused(
    'letters beyond ASCII, which the library would write wrong',
    { text: 'https://sub.test/💩' },
    'text must be letters, digits and signs without spaces',
  ),
  refused('no body', undefined, 'invalid JSON'),
  {
    name: '401 without a session',
    request: { ...asking({ text: 'x' }), anonymous: true },
    status: 401,
    error: 'unauthorized',
  },
])
