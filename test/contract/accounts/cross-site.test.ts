/** Requests from other sites with the cookie of an admin. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createWorld, PASSWORD, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})

afterEach(() => w.close())

const OURS = ['https://site.test', 'https://www.site.test', 'https://panel.test']
const FOREIGN = 'https://evil.test'

/** Whether a request is let through, by what the browser says of its origin. */
const TABLE: [site: string | null, origin: string | null, passes: boolean][] = [
  [null, null, true],
  ...OURS.map((origin) => [null, origin, true] as [null, string, boolean]),
  [null, FOREIGN, false],
  [null, 'https://sub.test', false],
  [null, 'null', false],
  [null, 'no url', false],
  ['same-origin', null, true],
  ['same-origin', FOREIGN, true],
  ['none', null, true],
  ['none', FOREIGN, true],
  ['cross-site', null, false],
  ['cross-site', FOREIGN, false],
  ['cross-site', 'null', false],
  ...OURS.map((origin) => ['cross-site', origin, true] as [string, string, boolean]),
  ['same-site', null, false],
  ['same-site', 'https://sub.test', false],
  ...OURS.map((origin) => ['same-site', origin, true] as [string, string, boolean]),
  ['something-new', null, false],
  ['', FOREIGN, false],
]

describe('cross-site requests', () => {
  const headersOf = (site: string | null, origin: string | null): Record<string, string> => ({
    ...(site === null ? {} : { 'sec-fetch-site': site }),
    ...(origin === null ? {} : { origin }),
  })

  test.each(TABLE)('Sec-Fetch-Site %j, Origin %j: allowed %s', async (site, origin, passes) => {
    const headers = headersOf(site, origin)
    for (const [method, path, allowed] of [
      ['POST', '/admin/api/nodes/reorder', 400],
      ['PATCH', '/admin/api/nodes/de1', 400],
      ['DELETE', '/admin/api/nodes/de1', 400],
      ['POST', '/admin/api/login', 400],
      ['POST', '/admin/api/logout', 200],
      ['PUT', '/admin/api/nowhere', 404],
    ] as const) {
      // Without a session where it would end the one of the world.
      const send = path.endsWith('logout') ? w.call : w.admin
      const answer = await send(path, { method, headers, raw: '{' })
      expect(answer.status, `${method} ${path}`).toBe(passes ? allowed : 403)
      if (!passes) expect(answer.json).toEqual({ error: 'cross-site request' })
    }
  })

  test('a safe method is never refused', async () => {
    for (const [site, origin] of TABLE) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await w.admin('/admin/api/nodes', {
          method,
          headers: headersOf(site, origin),
        })
        expect(answer.status, `${site} ${origin}`).toBe(200)
      }
    }
  })

  test('a download of a backup, a GET that does something, is refused like an unsafe one', async () => {
    for (const [site, origin, passes] of TABLE) {
      const headers = headersOf(site, origin)
      const before = w.dump()
      const answer = await w.admin('/admin/api/backup', { method: 'HEAD', headers })
      expect(answer.status, `${site} ${origin}`).toBe(passes ? 200 : 403)
      if (passes) continue
      const refused = await w.admin('/admin/api/backup', { headers })
      expect([refused.status, refused.json]).toEqual([403, { error: 'cross-site request' }])
      expect(w.dump()).toBe(before)
    }
  })

  test('without Sec-Fetch-Site an Origin passes that is the host asked, by our scheme', async () => {
    const ask = (host: string, origin: string) =>
      w.admin('/admin/api/nodes/reorder', { raw: '{', host, headers: { origin } })
    expect((await ask('10.0.0.5:3000', 'https://10.0.0.5:3000')).status).toBe(400)
    expect((await ask('10.0.0.5:3000', 'http://10.0.0.5:3000')).status).toBe(403)
    expect((await ask('panel.test', 'http://panel.test')).status).toBe(403)
    expect((await ask('OTHER.test', 'https://other.test')).status).toBe(400)
    expect((await ask('10.0.0.5:3000', 'http://10.0.0.5:3001')).status).toBe(403)
    expect((await ask('sub.test', 'https://site.test.evil.test')).status).toBe(403)
  })

  test('a login from another site leaves no session and no attempt', async () => {
    const before = w.dump()
    const answer = await w.call('/admin/api/login', {
      body: { username: 'admin', password: PASSWORD },
      headers: { 'sec-fetch-site': 'cross-site', origin: FOREIGN },
    })
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null])
    expect(w.dump()).toBe(before)
  })
})
