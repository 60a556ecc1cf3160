import { afterEach, describe, expect, test } from 'vitest'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

/** While the panel is not built, as here, its page says how that is done. */
const ADMIN = 'npm run build'
const LANDING = 'class="hero"'

/** What `GET /` and page paths serve, told by a mark of the page. */
const serves = (
  name: string,
  host: string,
  path: string,
  mark: string | 404,
  environment: Record<string, string> = {},
): Scenario => ({
  name,
  world: { environment },
  request: { path, host },
  status: mark === 404 ? 404 : 200,
  ...(mark === 404
    ? { error: 'not found' }
    : { headers: { 'content-type': 'text/html; charset=utf-8' } }),
  effects: (_w, _given, answer) => {
    if (mark !== 404) expect(answer.text).toContain(mark)
    if (mark !== ADMIN) expect(answer.text).not.toContain(ADMIN)
    expect(answer.headers.get('cache-control')).toBe(
      mark === ADMIN
        ? 'no-cache, must-revalidate'
        : mark === LANDING
          ? 'no-cache'
          : 'private, no-store',
    )
  },
})

scenarios('GET / with the default ADMIN_PATH', [
  serves('the admin page on the panel host', 'panel.test', '/', ADMIN),
  serves('the landing page on the site host', 'site.test', '/', LANDING),
  serves('the landing page on the sub host', 'sub.test', '/', LANDING),
  serves('the landing page on an unknown host', 'other.test', '/', LANDING),
  serves('the landing page on an IP address', '192.0.2.1', '/', LANDING),
  serves('the landing page on an IPv6 address', '[2001:db8::1]:3000', '/', LANDING),
  serves('the admin page whatever the port', 'panel.test:8443', '/', ADMIN),
  serves('the admin page whatever the case', 'PaNeL.TeSt', '/', ADMIN),
  serves('the admin page with a dot after the name', 'panel.test.', '/', ADMIN),
  serves('the admin page with case, dot and port', 'PANEL.test.:80', '/', ADMIN),
  serves('the landing page on a name that only begins alike', 'panel.test.evil', '/', LANDING),
  serves('the landing page on a name that only ends alike', 'xpanel.test', '/', LANDING),
])

scenarios('GET / with a custom ADMIN_PATH', [
  serves('the landing page on the panel host', 'panel.test', '/', LANDING, { ADMIN_PATH: 'hid' }),
  serves('the landing page on the site host', 'site.test', '/', LANDING, { ADMIN_PATH: 'hid' }),
])

const ALL_ONE = { SUB_DOMAIN: 'one.test', SITE_DOMAIN: 'one.test', PANEL_DOMAIN: 'one.test' }

scenarios('GET / where names coincide', [
  serves('the admin page where all three are one', 'one.test', '/', ADMIN, ALL_ONE),
  serves('the admin page where SUB is PANEL', 'panel.test', '/', ADMIN, {
    SUB_DOMAIN: 'panel.test',
  }),
  serves('the admin page where SITE is PANEL', 'panel.test', '/', ADMIN, {
    SITE_DOMAIN: 'panel.test',
  }),
  serves('the landing page where SUB is SITE', 'site.test', '/', LANDING, {
    SUB_DOMAIN: 'site.test',
  }),
  serves('the admin page where names differ by port only', 'one.test:2', '/', ADMIN, {
    SUB_DOMAIN: 'one.test:1',
    SITE_DOMAIN: 'one.test:2',
    PANEL_DOMAIN: 'one.test:3',
  }),
])

scenarios('the admin page', [
  serves('at /admin by default', 'panel.test', '/admin', ADMIN),
  serves('at /admin/ as well', 'panel.test', '/admin/', ADMIN),
  serves('on every host', 'site.test', '/admin', ADMIN),
  serves('at the custom path', 'panel.test', '/hid', ADMIN, { ADMIN_PATH: '/hid/' }),
  serves('at the custom path with a slash', 'panel.test', '/hid/', ADMIN, { ADMIN_PATH: 'hid' }),
  ...['metrics', 'status', 'tls-allowed', 'rules'].map((path) =>
    serves(`at /${path}, which it wins`, 'panel.test', `/${path}`, ADMIN, { ADMIN_PATH: path }),
  ),
  serves('at a nested path', 'panel.test', '/a/b', ADMIN, { ADMIN_PATH: 'a/b' }),
  serves('at a nested path with a slash', 'panel.test', '/a/b/', ADMIN, { ADMIN_PATH: '//a/b//' }),
  serves('404 at the first part of a nested path', 'panel.test', '/a', 404, { ADMIN_PATH: 'a/b' }),
  serves('at /admin for a path of slashes only', 'panel.test', '/admin', ADMIN, {
    ADMIN_PATH: '///',
  }),
  serves('404 at /admin with a custom path', 'panel.test', '/admin', 404, { ADMIN_PATH: 'hid' }),
  serves('404 at /admin/ with a custom path', 'panel.test', '/admin/', 404, { ADMIN_PATH: 'hid' }),
  serves('404 at the custom path in other case', 'panel.test', '/HID', 404, { ADMIN_PATH: 'hid' }),
  serves('404 below the admin page', 'panel.test', '/admin/users', 404),
  {
    name: '200 with the same headers and no body for HEAD',
    request: { path: '/admin', method: 'HEAD' },
    status: 200,
    headers: { 'cache-control': 'no-cache, must-revalidate' },
    body: '',
  },
  {
    name: '200 from /admin/api, which stays where it is with a custom path',
    world: { environment: { ADMIN_PATH: 'hid' } },
    request: { path: '/admin/api/me' },
    status: 200,
    body: { authenticated: true, username: 'admin' },
  },
  {
    name: '404 at the custom path followed by /api',
    world: { environment: { ADMIN_PATH: 'hid' } },
    request: { path: '/hid/api/me' },
    status: 404,
    error: 'not found',
  },
])

/** Paths by the group of routes they belong to, with the status that says they are served. */
const GROUPS = {
  admin: [
    ['/admin', 200],
    ['/admin/api/me', 200],
    ['/admin/api/nodes', 401],
  ],
  panelOnly: [['/mgmt-pubkey.txt', 200]],
  everywhere: [
    ['/', 200],
    ['/healthz', 200],
  ],
  site: [
    ['/api/plans', 200],
    ['/cabinet.html', 200],
    ['/pay/done', 200],
    ['/api/cabinet/TOKEN', 200],
  ],
  sub: [
    ['/sub/TOKEN', 200],
    ['/sub/TOKEN/open/happ', 200],
  ],
} as const

type Group = keyof typeof GROUPS

const STRICT: [host: string, served: Group[]][] = [
  ['panel.test', ['everywhere', 'admin', 'panelOnly', 'sub']],
  ['sub.test', ['everywhere', 'sub']],
  ['site.test', ['everywhere', 'site']],
  ['other.test', ['everywhere', 'site']],
]

describe('which host serves which routes', () => {
  let w: World
  afterEach(() => w.close())

  const statuses = async (host: string, strict: boolean) => {
    w = await createWorld({ environment: { HOST_ISOLATION: strict ? 'strict' : 'off' } })
    w.change(
      "insert into users (tg_id, token, created_at) values (1, 'TOKEN', '2026-01-01T00:00:00')",
    )
    const found: Record<string, number> = {}
    for (const [path] of Object.values(GROUPS).flat()) {
      found[path] = (await w.call(path, { host })).status
    }
    return found
  }

  test.each(STRICT)('strictly: %s', async (host, served) => {
    const wanted: Record<string, number> = {}
    for (const [group, paths] of Object.entries(GROUPS)) {
      for (const [path, status] of paths)
        wanted[path] = served.includes(group as Group) ? status : 404
    }
    expect(await statuses(host, true)).toEqual(wanted)
  })

  test.each(STRICT)('by default every route is on %s', async (host) => {
    const wanted = Object.fromEntries(Object.values(GROUPS).flat())
    expect(await statuses(host, false)).toEqual(wanted)
  })

  test.each([
    ['panel.test', ADMIN],
    ['sub.test', LANDING],
    ['site.test', LANDING],
    ['other.test', LANDING],
  ])('strictly: GET / on %s', async (host, mark) => {
    w = await createWorld({ environment: { HOST_ISOLATION: 'strict' } })
    expect((await w.call('/', { host })).text).toContain(mark)
  })

  test('strictly, a name that has two roles serves the routes of both', async () => {
    w = await createWorld({
      environment: { HOST_ISOLATION: 'strict', SITE_DOMAIN: 'one.test', PANEL_DOMAIN: 'one.test' },
    })
    expect((await w.call('/', { host: 'one.test' })).text).toContain(ADMIN)
    expect((await w.call('/api/plans', { host: 'one.test' })).status).toBe(200)
    expect((await w.call('/admin/api/me', { host: 'one.test' })).status).toBe(200)
    expect((await w.call('/admin/api/me', { host: 'other.test' })).status).toBe(404)
  })
})
