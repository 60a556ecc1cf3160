import { gunzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { FILE_APPS } from '#src/domain/apps.ts'
import {
  addDevice,
  addNode,
  addSubscription,
  addUser,
  DAY,
  inSeconds,
  putSettings,
} from '#test/support/records.ts'
import { scenarios } from '#test/support/scenario.ts'
import type { World } from '#test/support/world.ts'

const BROWSER = { 'user-agent': 'Mozilla/5.0', accept: 'text/html', 'accept-language': 'en' }

const page = (token: string) => ({ path: `/sub/${token}`, host: 'sub.test', headers: BROWSER })

const HOSTILE = `<img src=x onerror=alert(1)>"'&</script><b>`
const ESCAPED = '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;&lt;/script&gt;&lt;b&gt;'

function buyer(w: World): string {
  putSettings(w, { BRAND_NAME: 'Fast Tunnel', BOT_USERNAME: 'some_bot' })
  const token = addUser(w, 7)
  addSubscription(w, 7, { expires_at: inSeconds(w, 30 * DAY) })
  return token
}

/** Makes the shop of the site open. */
const openShop = (w: World) =>
  putSettings(w, { PAYMENTS_ENABLED: '1', STARS_ENABLED: '1', BOT_TOKEN: '1:x' })

const sell = (w: World) => {
  openShop(w)
  w.change('update plans set price_stars = 100')
}

const footerOf = (text: string) => text.slice(text.indexOf('<footer'))

const NOT_KEPT = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'private, no-store',
  'x-robots-tag': 'noindex',
}

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
      expect(text).toContain('<bdi>30 days</bdi> · until ')
      expect(text).toContain('31.03.2026')
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
    effects: (_w, _token, { text }) => expect(text).toContain('02.04.2026'),
  },
  {
    name: '200 with the active subscriptions only',
    given: (w) => {
      const token = buyer(w)
      addNode(w, 'old')
      addSubscription(w, 7, { node: 'old', expires_at: inSeconds(w, 0) })
      addNode(w, 'held')
      addSubscription(w, 7, { node: 'held', held_at: inSeconds(w, 0) })
      return token
    },
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => {
      expect(text).toContain('Local')
      expect(text).not.toMatch(/Label of (old|held)/)
    },
  },
  {
    name: '200 with the expiry page and a link to the bot when nothing is active',
    given: (w) => {
      const token = buyer(w)
      w.change('update subscriptions set active = 0')
      return token
    },
    request: page,
    status: 200,
    headers: NOT_KEPT,
    effects: (_w, token, { text }) => {
      expect(text).toContain('No active subscription')
      expect(text).toContain('href="https://t.me/some_bot"')
      expect(text).toContain('Fast Tunnel')
      expect(text).not.toContain(token)
      expect(footerOf(text)).toContain('<a href="https://site.test/cabinet.html">Your account</a>')
      expect(text).not.toContain('It was active until')
    },
  },
  {
    name: '200 with the day of the last expiry on the expiry page',
    given: (w) => {
      const token = addUser(w, 7)
      addSubscription(w, 7, { expires_at: inSeconds(w, -9 * DAY) })
      addSubscription(w, 7, { expires_at: inSeconds(w, -2 * DAY) })
      return token
    },
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => {
      expect(text).toContain('It was active until 27.02.2026.')
      expect(text).not.toContain('cabinet.html#')
    },
  },
  {
    name: '200 that says paused, not ended, when the only subscription is held',
    given: (w) => {
      const token = buyer(w)
      putSettings(w, { SUPPORT_CONTACT: '@help' })
      w.change('update subscriptions set held_at = ?', inSeconds(w, 0))
      return token
    },
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => {
      expect(text).toContain('Subscription paused')
      expect(text).not.toContain('Subscription ended')
      expect(text).toContain('https://t.me/some_bot')
    },
  },
  {
    name: '200 with no subscription for a banned user, without a way to pay',
    given: (w) => {
      const token = buyer(w)
      sell(w)
      w.change('update users set banned_at = created_at')
      return token
    },
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => {
      expect(text).toContain('No active subscription')
      expect(text).not.toContain('cabinet.html#')
    },
  },
  ...[true, false].map((active) => ({
    name: `200 with the way to the account while something is sold there, ${active ? 'active' : 'ended'}`,
    given: (w: World) => {
      const token = buyer(w)
      sell(w)
      if (!active) w.change('update subscriptions set expires_at = created_at')
      return token
    },
    request: page,
    status: 200,
    effects: (_w: World, token: string, { text }: { text: string }) =>
      expect(text).toContain(`href="https://site.test/cabinet.html#${token}"`),
  })),
  {
    name: '200 with the language that was asked for in the way to the account, before the fragment',
    given: (w) => {
      sell(w)
      return buyer(w)
    },
    request: (token: string) => ({ ...page(token), path: `${page(token).path}?lang=ru` }),
    status: 200,
    effects: (_w: World, token: string, { text }: { text: string }) => {
      expect(text).toContain('<html lang="ru">')
      expect(text).toContain(`href="https://site.test/cabinet.html?lang=ru#${token}"`)
      expect(text).toContain('href="https://site.test/offer?lang=ru"')
    },
  },
  {
    name: '200 without a way to pay while no plan has a price at the only provider',
    given: (w) => {
      openShop(w)
      return buyer(w)
    },
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => {
      expect(text).not.toContain('cabinet.html#')
      expect(text).not.toContain('Renew')
      expect(text).toContain('https://t.me/some_bot')
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

const open = (app: string) => (token: string) => ({
  path: `/sub/${token}/open/${app}`,
  host: 'sub.test',
  headers: BROWSER,
})

scenarios('GET /sub/{token}/open/{app}', [
  ...FILE_APPS.map(({ id }) => ({
    name: `200 with the link that opens ${id}`,
    given: buyer,
    request: open(id),
    status: 200,
    headers: NOT_KEPT,
    effects: (_w: World, token: string, { text }: { text: string }) => {
      const url = `https://sub.test/sub/${token}`
      expect(text).toMatch(new RegExp(`href="${id}://`))
      expect(text.includes(url) && text.includes('://')).toBe(true)
      expect(text).toContain(`href="${url}"`)
      expect(footerOf(text)).toContain(`href="https://site.test/cabinet.html#${token}"`)
    },
  })),
  { name: '404 for an unknown app', given: buyer, request: open('nope'), status: 404 },
  {
    name: '404 for a name of every object',
    given: buyer,
    request: open('constructor'),
    status: 404,
  },
  { name: '404 for an app in other case', given: buyer, request: open('HAPP'), status: 404 },
  {
    name: '404 for an unknown token',
    request: () => open('happ')('unknown'),
    status: 404,
    headers: { 'content-type': 'text/html; charset=utf-8' },
  },
  {
    name: '404 as JSON for those who ask for no HTML',
    request: { path: '/sub/unknown/open/happ', headers: { 'user-agent': 'Mozilla/5.0' } },
    status: 404,
    error: 'not found',
  },
])
