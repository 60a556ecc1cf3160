/** Paths, queries and cookies that are long to decode, and longer than any of ours. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createWorld, SESSION, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => w.close())

/** 14 KB of what is no UTF-8, in pieces that are decoded one by one. */
const UNDECODABLE = '%ffa'.repeat(3500)

/** How many texts are decoded while a request is answered; each that can't be is an error thrown. */
async function decodedBy(send: () => Promise<unknown>): Promise<number> {
  const spies = [vi.spyOn(globalThis, 'decodeURI'), vi.spyOn(globalThis, 'decodeURIComponent')]
  await send()
  const calls = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  vi.restoreAllMocks()
  return calls
}

test.each([
  `/${UNDECODABLE}`,
  `/sub/${UNDECODABLE}`,
  `/sub/token/open/${UNDECODABLE}`,
  `/api/cabinet/${UNDECODABLE}`,
  `/install/${UNDECODABLE}/core/xray`,
  `/admin/assets/${UNDECODABLE}`,
  `/${'%ffa/'.repeat(2800)}`,
])('path %#, like all that are unknown, without decoding much of it', async (path) => {
  expect((await w.call(path)).status).toBe(404)
  expect(await decodedBy(() => w.call(path))).toBeLessThan(600)
})

test('a cookie that can not be decoded is nobody’s, and not decoded', async () => {
  const headers = { cookie: `panel_admin=${UNDECODABLE}` }
  expect((await w.call('/admin/api/nodes', { headers })).status).toBe(401)
  expect(await decodedBy(() => w.call('/admin/api/nodes', { headers }))).toBeLessThan(10)
})

test('a path that is longer than any of ours is refused like all that are unknown', async () => {
  const long = 'x'.repeat(1000)
  expect((await w.call(`/admin/api/${long}`)).status).toBe(401)
  expect((await w.admin(`/admin/api/${long}`)).status).toBe(404)
  expect((await w.call(`/healthz/${long}`)).status).toBe(404)
  const revoked = await w.admin(`/admin/api/subscriptions/${long}/revoke`, { method: 'POST' })
  expect(revoked.status).toBe(404)
  const page = await w.call(`/sub/${long}`, { headers: { accept: 'text/html' } })
  expect(page.status).toBe(404)
  expect(page.headers.get('content-type')).toContain('text/html')
})

/** How much of queries is decoded while a page is answered. */
async function queriesDecodedBy(send: () => Promise<unknown>): Promise<number> {
  let length = 0
  const Decoder = class extends URLSearchParams {
    constructor(query: ConstructorParameters<typeof URLSearchParams>[0]) {
      super(query)
      // What a refusal says of itself is no text yet.
      if (typeof query === 'string') length += query.length
    }
  }
  vi.stubGlobal('URLSearchParams', Decoder)
  await send()
  vi.unstubAllGlobals()
  return length
}

// One of them took Node a second.
test.each(['/', '/pay/done', '/cabinet.html', '/offer', '/sub/none'])(
  'of the query of %s no more is decoded than the page asks for',
  async (path) => {
    for (const pair of ['%c3&', '%ff=a&', 'a=%ff&', '%c3%28=%c3&']) {
      const url = `${path}?${pair.repeat(14_000 / pair.length)}lang=ru&os=ios`
      const ask = () => w.call(url, { headers: { accept: 'text/html' } })
      expect((await ask()).text).toContain('lang="ru"')
      expect(await queriesDecodedBy(ask)).toBeLessThan(100)
    }
  },
)

test('queries count for nothing', async () => {
  expect((await w.call(`/healthz?${'x'.repeat(5000)}`)).json).toEqual({ ok: true })
  expect((await w.call(`/?${'x'.repeat(5000)}/`)).status).toBe(200)
})

test('the panel has any path that the operator gives it', async () => {
  const path = `${'a'.repeat(300)}/${'b'.repeat(400)}`
  const own = await createWorld({ environment: { ADMIN_PATH: path } })
  expect((await own.call(`/${path}`)).status).toBe(200)
  expect((await own.call(`/${path}/assets/none.js`)).status).toBe(404)
  own.close()
})

test('the session is found among other cookies', async () => {
  const of = async (cookie: string) =>
    (await w.call('/admin/api/me', { headers: { cookie } })).json.authenticated
  expect(await of(`a=b; panel_admin=${SESSION}; c=%ff`)).toBe(true)
  expect(await of(`a=b;panel_admin=${SESSION}`)).toBe(true)
  expect(await of(`xpanel_admin=${SESSION}`)).toBe(false)
  expect(await of('panel_admin=')).toBe(false)
})
