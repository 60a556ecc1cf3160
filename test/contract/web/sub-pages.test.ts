import { gunzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { BROWSER, buyer, footerOf, NOT_KEPT, page } from '#test/support/calls/sub-visit.ts'
import {
  addDevice,
  addNode,
  addSubscription,
  addUser,
  DAY,
  inSeconds,
  putSettings,
} from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const HOSTILE = `<img src=x onerror=alert(1)>"'&</script><b>`
const ESCAPED = '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;&lt;/script&gt;&lt;b&gt;'

scenarios('GET /sub/{token} in a browser', [
  {
    name: '200 with subscription URL, happ link, QR code, brand, plan and expiry',
    given: buyer,
    request: page,
    status: 200,
    headers: NOT_KEPT,
    effects: (_w, token, { text }) => {
      const url = `https://sub.test/sub/${token}`
      expect(text).toContain(`>${url}</code>`)
      expect(text).toContain(`href="happ://add/${url}"`)
      expect(text).toMatch(/<svg[\s\S]*<\/svg>/)
      expect(text).toContain('Fast Tunnel')
      expect(text).toContain('<bdi>30 days</bdi> · ')
      expect(text).toContain('until 31 March 2026')
      expect(text).toContain('https://t.me/some_bot')
      expect(text).not.toMatch(
        /<script(?! defer src="\/assets\/link\.)|https?:\/\/(?!(?:sub|site)\.test|t\.me|apps\.apple|play\.google|github)/,
      )
    },
  },
  {
    name: '200 with the expiry day of the configured time zone',
    world: { environment: { TIMEZONE: 'Asia/Vladivostok' } },
    given: (w) => {
      const token = addUser(w, 7)
      addSubscription(w, 7, { expires_at: '2026-04-01T20:00:00' })
      return token
    },
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => expect(text).toContain('2 April 2026'),
  },
  {
    name: '200 with what ends first at the front and what is paused at the end, without what has ended',
    given: (w) => {
      const token = buyer(w)
      for (const code of ['old', 'held', 'soon', 'revoked']) addNode(w, code)
      addSubscription(w, 7, { node: 'old', expires_at: inSeconds(w, 0) })
      addSubscription(w, 7, {
        node: 'held',
        held_at: inSeconds(w, -DAY),
        expires_at: inSeconds(w, DAY),
      })
      addSubscription(w, 7, { node: 'soon', expires_at: inSeconds(w, 5 * DAY) })
      addSubscription(w, 7, { node: 'revoked', active: 0 })
      return token
    },
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => {
      const rows = text.slice(text.indexOf('Your servers')).replace(/<\/?bdi>/g, '')
      const found = rows.match(/<li[^>]*><span><strong>[^<]*|>paused<|\d+ days left/g)
      expect(found).toEqual([
        '<li><span><strong>Label of soon',
        '5 days left',
        '<li><span><strong>Local',
        '30 days left',
        '<li class="paused"><span><strong>Label of held',
        '2 days left',
        '>paused<',
      ])
      expect(text).toContain('aria-label="5 days left"')
    },
  },
  {
    name: '200 with how many devices there are and may be while they are counted',
    given: (w) => {
      const token = buyer(w)
      putSettings(w, { HWID_LIMIT_ENABLED: '1', HWID_FALLBACK_LIMIT: '3' })
      addDevice(w, 7, 'aaaaaaaaaaaa')
      return token
    },
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => {
      expect(text).toContain('1 of 3')
      expect(text).not.toContain('Every place is taken')
    },
  },
  {
    name: '200 with the way to where a device is removed when every place is taken',
    given: (w) => {
      const token = buyer(w)
      putSettings(w, { HWID_LIMIT_ENABLED: '1', HWID_FALLBACK_LIMIT: '1' })
      addDevice(w, 7, 'aaaaaaaaaaaa')
      return token
    },
    request: page,
    status: 200,
    effects: (_w, token, { text }) => {
      const account = `<a href="https://site.test/cabinet.html#${token}">`
      expect(text).toContain(`${account}remove one in your account</a>`)
      expect(footerOf(text)).toContain(`${account}Your account</a>`)
    },
  },
  {
    name: '200 without the apps that get no list while devices are limited',
    given: (w) => {
      const token = buyer(w)
      putSettings(w, { HWID_LIMIT_ENABLED: '1' })
      return token
    },
    request: page,
    status: 200,
    effects: async (w, token, { text }) => {
      const silent = /hiddify:|streisand:|v2rayng:/
      expect(text).toContain('flclashx://')
      expect(text).not.toMatch(silent)
      putSettings(w, { HWID_LIMIT_ENABLED: '0' })
      expect((await w.call(`/sub/${token}`, page(token))).text).toMatch(silent)
    },
  },
  {
    name: '200 with all apps and a word about them where none works with the device limit',
    given: async (w) => {
      const token = buyer(w)
      const stores = { android: [{ label: 'Store', url: 'https://example.test/app' }] }
      const app = { id: 'own', name: 'Own App', link: 'clash://x?url={url}', stores }
      await w.admin('/admin/api/settings/apps', { body: { apps: [{ ...app, device_id: false }] } })
      putSettings(w, { HWID_LIMIT_ENABLED: '1' })
      return token
    },
    request: page,
    status: 200,
    effects: async (w, token, { text }) => {
      const words = 'None of these apps works with your device limit'
      expect(text).toContain(words)
      expect(text).toContain('clash://x')
      expect(text).not.toContain('Recommended')
      putSettings(w, { HWID_LIMIT_ENABLED: '0' })
      expect((await w.call(`/sub/${token}`, page(token))).text).not.toContain(words)
    },
  },
  {
    name: '200 without devices while nobody counts them',
    given: (w) => {
      const token = buyer(w)
      addDevice(w, 7, 'aaaaaaaaaaaa')
      return token
    },
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => expect(text).not.toContain('Devices'),
  },
  ...(
    [
      ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X)', '', 'ios'],
      ['Mozilla/5.0 (Windows NT 10.0; Win64; x64)', '', 'windows'],
      ['Mozilla/5.0 (Windows NT 10.0; Win64; x64)', '?os=tv', 'tv'],
      ['Mozilla/5.0 (Windows NT 10.0; Win64; x64)', '?os="><b>', 'windows'],
    ] as const
  ).map(([agent, query, system]) => ({
    name: `200 with ${system} chosen for ${agent}${query}`,
    given: buyer,
    request: (token: string) => ({
      ...page(token),
      path: `/sub/${token}${query}`,
      headers: { ...BROWSER, 'user-agent': agent },
    }),
    status: 200,
    headers: { vary: /User-Agent/ },
    effects: (_w: World, _token: string, { text }: { text: string }) => {
      expect(text.match(/ checked/g)).toHaveLength(1)
      expect(text).toContain(`id="os-${system}" checked`)
      expect(text).toContain(`href="?${query === '?os=tv' ? 'os=tv&amp;' : ''}lang=ru"`)
      expect(text).not.toContain('<b>')
    },
  })),
  {
    name: '200 with a way out of Telegram for its own browser',
    given: buyer,
    request: (token) => ({
      ...page(token),
      headers: {
        ...BROWSER,
        'user-agent': 'Mozilla/5.0 (Linux; Android 15) Telegram-Android/11.9',
      },
    }),
    status: 200,
    effects: (_w, _token, { text }) => expect(text).toContain('id="in-telegram"><svg'),
  },
  {
    name: '200 compressed for a browser that takes it, and the same page',
    given: buyer,
    request: (token) => ({
      ...page(token),
      headers: { ...BROWSER, 'accept-encoding': 'br, gzip;q=0.8' },
    }),
    status: 200,
    headers: { 'content-encoding': 'gzip', vary: /Accept-Encoding/ },
    effects: async (w, token, { bytes }) => {
      const plain = await w.call(`/sub/${token}`, page(token))
      expect(plain.headers.get('content-encoding')).toBeNull()
      expect(gunzipSync(bytes).toString()).toBe(plain.text)
      expect(bytes.length).toBeLessThanOrEqual(12 * 1024)
    },
  },
  ...['identity', 'gzip;q=0', 'br', 'xgzip'].map((encoding) => ({
    name: `200 as it is for a browser that takes ${encoding}`,
    given: buyer,
    request: (token: string) => ({
      ...page(token),
      headers: { ...BROWSER, 'accept-encoding': encoding },
    }),
    status: 200,
    headers: { 'content-encoding': null },
    effects: (_w: World, _token: string, { text }: { text: string }) =>
      expect(text).toMatch(/^<!doctype html>/),
  })),
  {
    name: '200 with the apps that an admin chose',
    given: async (w) => {
      const token = buyer(w)
      const stores = { ios: [{ label: 'Store', url: 'https://example.test/app' }] }
      const apps = [{ id: 'own', name: 'Own App', link: 'clash://x?url={url_encoded}', stores }]
      await w.admin('/admin/api/settings/apps', { body: { apps } })
      return token
    },
    request: page,
    status: 200,
    effects: (_w, token, { text }) => {
      const url = encodeURIComponent(`https://sub.test/sub/${token}`)
      expect(text).toContain(`href="clash://x?url=${url}"`)
      expect(text).toContain('https://example.test/app')
      expect(text).toContain('No app is offered')
      expect(text).not.toContain('happ://')
    },
  },
  {
    name: '200 with every hostile label escaped',
    given: (w) => {
      putSettings(w, { BRAND_NAME: HOSTILE, BOT_USERNAME: HOSTILE })
      addNode(w, 'evil', { label: HOSTILE })
      w.change("update plans set label = ? where code = '1m'", HOSTILE)
      const token = addUser(w, 7)
      addSubscription(w, 7, { node: 'evil' })
      return token
    },
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => {
      expect(text).not.toContain('<img')
      expect(text.split('</script>')).toHaveLength(2)
      expect(text.split(ESCAPED).length).toBeGreaterThan(3)
      expect(text).toContain('https://t.me/%3Cimg')
    },
  },
  {
    name: '200 with the domain of the settings, never the Host of the request',
    given: buyer,
    request: (token) => ({
      ...page(token),
      host: 'evil.test',
      headers: { ...BROWSER, 'x-forwarded-host': 'evil.test' },
    }),
    status: 200,
    effects: (_w, _token, { text }) => expect(text).not.toContain('evil.test'),
  },
  {
    name: '200 for HEAD without a body',
    given: buyer,
    request: (token) => ({ ...page(token), method: 'HEAD' }),
    status: 200,
    headers: NOT_KEPT,
    body: '',
  },
  {
    name: '404 as a page that does not repeat the token',
    request: page('some-unknown-token'),
    status: 404,
    headers: NOT_KEPT,
    effects: (_w, _token, { text }) => expect(text).not.toContain('some-unknown-token'),
  },
])
