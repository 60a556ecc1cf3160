import { rmSync } from 'node:fs'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeFakePanel } from '#test/support/fakes/panel.ts'
import { ask, expectDecent, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const HTML = 'text/html,application/xhtml+xml'

scenarios('errors', [
  { name: '404 as JSON', request: { path: '/nowhere' }, status: 404, body: { error: 'not found' } },
  {
    name: '404 as JSON even for a browser where no page is',
    request: { path: '/api/nowhere', headers: { accept: HTML } },
    status: 404,
    headers: { 'content-type': 'application/json', 'cache-control': 'private, no-store' },
    error: 'not found',
  },
  ...['/sub/unknown', '/sub/unknown/open/happ', '/pay/nowhere', '/sub', '/pay'].map((path) => ({
    name: `404 as a page at ${path} for a browser`,
    request: { path, headers: { accept: HTML } },
    status: 404,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'private, no-store' },
  })),
  {
    name: '404 as JSON at /sub for a client that asks for no HTML',
    request: { path: '/sub/unknown', headers: { accept: '*/*' } },
    status: 404,
    error: 'not found',
  },
  {
    name: '405 as a page at /cabinet.html for a browser',
    request: { path: '/cabinet.html', method: 'POST', headers: { accept: HTML } },
    status: 405,
    headers: { allow: 'GET, HEAD', 'content-type': 'text/html; charset=utf-8' },
  },
  {
    name: '404 as JSON at an address that only begins like a page',
    request: { path: '/subway', headers: { accept: HTML } },
    status: 404,
    error: 'not found',
  },
])

const allow = (method: string, path: string, Allow: string) => ({
  name: `405 for ${method} ${path}, allowing ${Allow}`,
  request: { path, method },
  status: 405,
  headers: { Allow },
  error: 'method not allowed',
})

scenarios('known paths with another method', [
  allow('POST', '/healthz', 'GET, HEAD'),
  allow('DELETE', '/', 'GET, HEAD'),
  allow('PUT', '/sub/some-token', 'GET, HEAD'),
  allow('POST', '/api/plans', 'GET, HEAD'),
  allow('PATCH', '/mgmt-pubkey.txt', 'GET, HEAD'),
  allow('POST', '/admin', 'GET, HEAD'),
  allow('PUT', '/admin/api/nodes', 'GET, POST, HEAD'),
  allow('GET', '/admin/api/nodes/de1', 'PATCH, DELETE'),
  allow('GET', '/admin/api/nodes/de1/check', 'POST'),
  allow('DELETE', '/admin/api/nodes/de1/status', 'GET, HEAD'),
  allow('GET', '/admin/api/login', 'POST'),
  allow('DELETE', '/admin/api/me', 'GET, HEAD'),
  allow('GET', '/admin/api/sync', 'POST'),
  allow('POST', '/admin/api/users/1', 'GET, PATCH, DELETE, HEAD'),
  allow('PATCH', '/admin/api/hwid-settings', 'GET, POST, HEAD'),
])

describe('cross-origin access', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => w.close())

  const OURS = ['https://site.test', 'https://www.site.test', 'https://panel.test']

  test.each(OURS)('is allowed with credentials for %s', async (origin) => {
    for (const path of ['/api/plans', '/admin/api/me', '/sub/unknown', '/admin/api/nodes']) {
      const answer = await w.call(path, { headers: { origin } })
      expect(answer.headers.get('access-control-allow-origin'), path).toBe(origin)
      expect(answer.headers.get('access-control-allow-credentials'), path).toBe('true')
      expect(answer.headers.get('vary'), path).toContain('Origin')
    }
  })

  test.each(OURS)('is preflighted for %s', async (origin) => {
    const answer = await w.call('/admin/api/nodes/de1', {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'content-type, x-anything',
      },
    })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true')
    expect(answer.headers.get('access-control-allow-methods')).toBe('GET,POST,PATCH,DELETE')
    expect(answer.headers.get('access-control-allow-headers')).toBe('content-type,x-anything')
    expect(answer.headers.get('access-control-max-age')).toBe('600')
  })

  test.each([
    'https://evil.test',
    'http://site.test',
    'https://site.test:8443',
    'https://sub.test',
    'https://www.panel.test',
    'https://site.test.evil.test',
    'https://SITE.test',
    'null',
    '*',
    '',
  ])('is not allowed for %j', async (origin) => {
    for (const method of ['GET', 'OPTIONS']) {
      const answer = await w.call('/admin/api/me', { method, headers: { origin } })
      expect(answer.headers.get('access-control-allow-origin'), method).toBeNull()
    }
  })

  test('follows PUBLIC_SCHEME and the ports of the domains', async () => {
    w.close()
    w = await createWorld({
      environment: { PUBLIC_SCHEME: 'http', SITE_DOMAIN: 'site.test:3000' },
    })
    const allowed = async (origin: string) =>
      (await w.call('/healthz', { headers: { origin } })).headers.get('access-control-allow-origin')
    expect(await allowed('http://site.test:3000')).toBe('http://site.test:3000')
    expect(await allowed('http://www.site.test:3000')).toBe('http://www.site.test:3000')
    expect(await allowed('https://site.test:3000')).toBeNull()
    expect(await allowed('http://site.test')).toBeNull()
  })

  test('leaves the language of a page in Vary', async () => {
    const { headers } = await w.call('/', { headers: { origin: 'https://site.test' } })
    expect(headers.get('vary')).toMatch(/Accept-Language/)
    expect(headers.get('vary')).toMatch(/Origin/)
  })
})

describe('security headers', () => {
  const panelFolder = makeFakePanel()
  afterAll(() => rmSync(panelFolder, { recursive: true }))
  let w: World
  beforeEach(async () => {
    w = await createWorld({ panelFolder })
  })
  afterEach(() => w.close())

  const PATHS = ['/', '/admin', '/cabinet.html', '/pay/done', '/healthz', '/api/plans']
  PATHS.push('/admin/api/me', '/admin/api/nodes', '/nowhere', '/mgmt-pubkey.txt', '/sub/unknown')

  test.each(PATHS)('are on %s', async (path) => {
    for (const accept of ['*/*', HTML]) {
      for (const method of ['GET', 'HEAD', 'DELETE']) {
        expectDecent(path, await ask(w, { path, method, headers: { accept } }))
      }
    }
    for (const host of ['sub.test', 'site.test', 'other.test']) {
      expectDecent(path, await ask(w, { path, host, anonymous: true }))
    }
  })

  const directives = async (path: string) => {
    const policy = (await w.call(path)).headers.get('content-security-policy') ?? ''
    return Object.fromEntries(
      policy.split('; ').map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
    )
  }
  const STATIC = {
    'default-src': "'none'",
    'style-src': expect.stringMatching(/^'sha256-[A-Za-z0-9+/]{43}='$/),
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
  }

  test('allow the page its one style and no script, or its own scripts', async () => {
    for (const path of ['/pay/done', '/cabinet.html']) {
      const page = await w.call(path)
      expect(page.text).not.toMatch(/ style="| on[a-z]+="|<script(?! defer src="\/)/)
      expect(await directives(path)).toMatchObject(STATIC)
    }
    expect(await directives('/pay/done')).not.toHaveProperty('script-src')
    expect(await directives('/cabinet.html')).toHaveProperty('script-src', "'self'")
    expect(await directives('/admin')).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': expect.stringMatching(/^'self' 'sha256-[A-Za-z0-9+/]{43}='$/),
      'base-uri': "'none'",
      'frame-ancestors': "'none'",
      'trusted-types': "'none'",
      'require-trusted-types-for': "'script'",
    })
  })

  test('are those of a page without scripts where the panel is not built', async () => {
    w.close()
    w = await createWorld()
    expect(await directives('/admin')).toMatchObject(STATIC)
    expect(await directives('/admin')).not.toHaveProperty('script-src')
  })

  test('have no Strict-Transport-Security where the service speaks http', async () => {
    w.close()
    w = await createWorld({ environment: { PUBLIC_SCHEME: 'http' } })
    for (const path of [...PATHS, '/sub/unknown']) {
      const answer = await w.call(path)
      expect(answer.headers.get('strict-transport-security'), path).toBeNull()
    }
  })
})

describe('a fault', () => {
  test('is answered 500 without details, which are in the log', async () => {
    const w = await createWorld()
    w.change('alter table gift_codes rename to lost')
    const answer = await w.admin('/admin/api/gift-codes')
    expect(answer.status).toBe(500)
    expect(answer.json).toEqual({ error: 'internal error' })
    expectDecent('/admin/api/gift-codes', answer)
    const line = w.log.find((one) => one.includes('request failed'))
    expect(line).toMatch(/ error .*route=\/admin\/api\/gift-codes/)
    expect(w.fatal).toHaveLength(1)
    w.close()
  })

  test('does not put a token in the log', async () => {
    const w = await createWorld()
    w.change('alter table users rename to lost')
    const answer = await w.call('/sub/a-secret-token', { headers: { 'user-agent': 'v2rayNG/1' } })
    expect(answer.status).toBe(500)
    expect(w.log.join('\n')).toContain('/sub/{token}')
    expect(w.log.join('\n')).not.toContain('a-secret-token')
    w.close()
  })
})
