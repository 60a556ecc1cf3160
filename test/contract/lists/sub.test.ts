import { describe, expect, test } from 'vitest'
import { buyer, fetchAs, links } from '#test/support/calls/list-fetches.ts'
import { addSubscription, addUser, inSeconds, putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const CLIENT = { 'user-agent': 'v2rayNG/2.3.5' }
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)', accept: 'text/html' }
const list = (token: string) => fetchAs(token, CLIENT)

const UNKNOWN: Scenario[] = ['nope', 'x'.repeat(43), '%00', '%F0%9F%92%A9', '%ff', "'--", '*'].map(
  (token) => ({
    name: `404 for the unknown token ${token}`,
    given: buyer,
    request: list(token),
    status: 404,
    headers: { 'content-type': 'application/json', 'cache-control': 'private, no-store' },
    error: 'not found',
  }),
)

scenarios('GET /sub/{token}: who is answered', [
  ...UNKNOWN,
  {
    name: '404 for an unknown token before any look at the device',
    given: (w) => putSettings(w, { HWID_LIMIT_ENABLED: 'true' }),
    request: list('nope'),
    status: 404,
    headers: { 'x-hwid-active': null, 'x-hwid-not-supported': null },
    error: 'not found',
  },
  {
    name: '404 for a token in other case',
    given: buyer,
    request: (token) => list(token.toUpperCase()),
    status: 404,
  },
  {
    name: '404 for a token with a slash behind it',
    given: buyer,
    request: (token) => list(`${token}/`),
    status: 404,
  },
  ...[
    ['no agent', {}],
    ['an empty agent', { 'user-agent': '' }],
    ['curl', { 'user-agent': 'curl/8.5.0' }],
    ['a browser', BROWSER],
    ['a preview bot', { 'user-agent': 'TelegramBot (like TwitterBot)' }],
  ].map(([what, headers]) => ({
    name: `200 with a page for ${what}`,
    given: buyer,
    request: (token: string) => fetchAs(token, headers as Record<string, string>),
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'private, no-store' },
  })),
])

const SUBSTRINGS =
  'v2ray xray sing-box happ hiddify streisand shadowrocket clash mihomo stash karing nekobox throne v2box incy prizrak'.split(
    ' ',
  )

const YAML = ['clash', 'mihomo', 'stash', 'nekobox', 'throne', 'prizrak', 'karing']

describe('GET /sub/{token}: the 16 clients', () => {
  test.each(SUBSTRINGS)(
    '200 with a list as text/plain for %s, in any case and place',
    async (part) => {
      const w = await createWorld()
      const token = buyer(w)
      for (const agent of [part, part.toUpperCase(), `Some ${part}/1.0 (thing)`, `x${part}x`]) {
        const answer = await w.call(`/sub/${token}`, { headers: { 'user-agent': agent } })
        expect(answer.status).toBe(200)
        expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
        if (YAML.includes(part)) expect(answer.text).toMatch(/^proxies:|\nproxies:/)
        else expect(links(answer)).toEqual([expect.stringMatching(/^vless:\/\//)])
      }
      w.close()
    },
  )

  test.each([
    ['SFA/1.14.0 (600; sing-box 1.14.0; language ru_RU)', 'json'],
    ['SFI/1.11.15 (1; sing-box 1.11.15; language en)', 'json'],
    ['HiddifyNext/2.5.7 (android) like ClashMeta v2ray sing-box', 'links'],
    ['clash-verge/v2.4.2', 'yaml'],
  ])('%s gets %s', async (agent, kind) => {
    const w = await createWorld()
    const token = buyer(w)
    const answer = await w.call(`/sub/${token}`, { headers: { 'user-agent': agent } })
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(answer.json === undefined ? 'no json' : 'json').toBe(
      kind === 'json' ? 'json' : 'no json',
    )
    if (kind === 'yaml') expect(answer.text).toContain('proxies:')
    if (kind === 'links') expect(links(answer)).toHaveLength(1)
    w.close()
  })

  test('no question poisons the answer to another', async () => {
    const w = await createWorld()
    const token = buyer(w)
    const agent = 'SFA/1.14.0 (600; sing-box 1.14.0; language ru_RU)'
    const cut = agent.lastIndexOf(' ')
    const format = encodeURIComponent(` ${agent.slice(0, cut)}`)
    await w.call(`/sub/x?format=${format}`, { headers: { 'user-agent': agent.slice(cut + 1) } })
    const answer = await w.call(`/sub/${token}`, { headers: { 'user-agent': agent } })
    expect(answer.json).toHaveProperty('outbounds')
    w.close()
  })

  test('?format= makes any agent a client; an unknown one counts as not given', async () => {
    const w = await createWorld()
    const token = buyer(w)
    const body = async (format: string, headers = BROWSER) =>
      (await w.call(`/sub/${token}?format=${format}`, { headers })).text
    expect(atob(await body('base64'))).toMatch(/^vless:\/\//)
    expect(await body('links')).toMatch(/^vless:\/\//)
    expect(await body('mihomo')).toContain('proxies:')
    expect(JSON.parse(await body('singbox')).outbounds.length).toBeGreaterThan(0)
    expect(JSON.parse(await body('xray'))).toBeTruthy()
    for (const format of ['', 'LINKS', 'json', 'constructor']) {
      expect(await body(format), format).toContain('<html')
      expect(atob(await body(format, { ...BROWSER, ...CLIENT })), format).toMatch(/^vless:/)
    }
    w.close()
  })
})

const NO_LIST: [what: string, title: string, make: (w: World) => void][] = [
  ['nothing bought', 'No active', () => {}],
  ['everything revoked', 'No active', (w) => addSubscription(w, 7, { active: 0 })],
  ['everything held', 'paused', (w) => addSubscription(w, 7, { held_at: inSeconds(w, 0) })],
  ['everything expired', 'ended', (w) => addSubscription(w, 7, { expires_at: inSeconds(w, 0) })],
  [
    'a ban',
    'No active',
    (w) => {
      addSubscription(w, 7)
      w.change('update users set banned_at = created_at')
    },
  ],
]

describe('GET /sub/{token}: no active subscription', () => {
  test.each(NO_LIST)(
    '%s: an empty body, a valid empty config, a page that says: %s',
    async (_what, title, make) => {
      const w = await createWorld()
      const token = addUser(w, 7)
      make(w)
      const get = (format: string, headers: Record<string, string> = CLIENT) =>
        w.call(`/sub/${token}${format && `?format=${format}`}`, { headers })
      const plain = await get('')
      expect([plain.status, plain.text]).toEqual([200, ''])
      expect(plain.headers.get('subscription-userinfo')).toBe(
        'upload=0; download=0; total=0; expire=0',
      )
      expect(plain.headers.get('announce')).toBeNull()
      expect((await get('links')).text).toBe('')
      expect((await get('mihomo')).text).toContain('proxies:')
      const box = (await get('singbox')).json
      expect(box.outbounds.map((one: { type: string }) => one.type)).not.toContain('vless')
      expect((await get('xray')).status).toBe(200)
      const page = await get('', BROWSER)
      expect(page.status).toBe(200)
      expect(/<h1>(.*)<\/h1>/.exec(page.text)?.[1]).toContain(title)
      expect(page.text).not.toContain('happ://')
      w.close()
    },
  )
})
