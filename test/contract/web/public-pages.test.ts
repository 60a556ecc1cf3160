/** The pages that anyone may see. */
import { expect } from 'vitest'
import { addNode, putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'

const NOT_KEPT = { 'cache-control': 'private, no-store' }
const _cabinet = (token: string) => ({ path: `/api/cabinet/${token}`, host: 'site.test' })

const SELLING = {
  PAYMENTS_ENABLED: 'true',
  PROVIDER_A_SHOP_ID: '100500',
  PROVIDER_A_SECRET_KEY: 'live_a',
  PROVIDER_A_ENABLED: 'true',
}

scenarios('public pages', [
  {
    name: '200 with a thank-you page that does not claim that money has come',
    request: { path: '/pay/done', host: 'site.test' },
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8', 'x-robots-tag': 'noindex' },
  },
  {
    name: '200 with the cabinet page and its own script',
    request: { path: '/cabinet.html', host: 'site.test' },
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    effects: async (w, _given, { text }) => {
      const src = /<script defer src="([^"]+)"/.exec(text)?.[1] ?? ''
      expect(src).toMatch(/^\/assets\/cabinet\.[0-9a-f]{8}\.js$/)
      const script = await w.call(src, { host: 'site.test' })
      expect(script.status).toBe(200)
      expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    },
  },
  {
    name: '200 with the cabinet page without a script while none is built',
    world: { pagesFolder: '/nonexistent' },
    request: { path: '/cabinet.html', host: 'site.test' },
    status: 200,
    effects: async (_w, _given, { text }) => {
      expect(text).not.toContain('<script')
      expect(text).toContain('This page needs JavaScript.')
    },
  },
  {
    name: '404 for an asset that does not exist, not to be kept',
    request: { path: '/assets/cabinet.00000000.js' },
    status: 404,
    headers: NOT_KEPT,
  },
  {
    name: '404 for a path out of the assets',
    request: { path: '/assets/..%2f..%2fpackage.json' },
    status: 404,
    error: 'not found',
  },
  {
    name: '200 with brand, plans for sale, servers and the bot on the landing page',
    given: (w) => {
      putSettings(w, { ...SELLING, BRAND_NAME: 'Fast & <Free>', BOT_USERNAME: 'some_bot' })
      w.change("update plans set price = 0 where code = '3m'")
      w.change("update plans set archived = 1 where code = '6m'")
      addNode(w, 'off', { enabled: 0 })
    },
    request: { path: '/', host: 'site.test', headers: { 'accept-language': 'en' } },
    status: 200,
    headers: { 'x-robots-tag': null },
    effects: (_w, _given, { text }) => {
      expect(text).toContain('Fast &amp; &lt;Free&gt;')
      expect(text).not.toContain('<Free>')
      expect(text).toContain('https://t.me/some_bot?start=buy_1m')
      expect(text).toContain('365 days')
      expect(text).not.toContain('90 days')
      expect(text).not.toContain('180 days')
      expect(text).toContain('<li><bdi>Local</bdi></li>')
      expect(text).not.toContain('Label of off')
    },
  },
  ...[
    { what: 'payments are off', settings: { ...SELLING, PAYMENTS_ENABLED: 'false' } },
    { what: 'there is no way to pay', settings: { ...SELLING, PROVIDER_A_ENABLED: 'false' } },
  ].map(
    ({ what, settings }): Scenario => ({
      name: `200 with prices and no button to buy on the landing page while ${what}`,
      given: (w) => putSettings(w, { ...settings, BOT_USERNAME: 'some_bot' }),
      request: { path: '/', host: 'site.test', headers: { 'accept-language': 'en' } },
      status: 200,
      effects: (_w, _given, { text }) => {
        expect(text).toContain('365 days')
        expect(text).toContain('Sales are paused right now.')
        expect(text).not.toContain('?start=buy_')
      },
    }),
  ),
  {
    name: '200 with the price of now on the landing page',
    given: async (w) => {
      await w.call('/', { host: 'site.test' })
      w.change("update plans set price = 7654 where code = '1m'")
    },
    request: { path: '/', host: 'site.test', headers: { 'accept-language': 'en' } },
    status: 200,
    effects: (_w, _given, { text }) => expect(text).toContain('7,654'),
  },
  {
    name: '200 in Russian for those who ask for it',
    request: { path: '/pay/done', headers: { 'accept-language': 'ru-RU,ru;q=0.9' } },
    status: 200,
    headers: { vary: /Accept-Language/ },
    effects: (_w, _given, { text }) => expect(text).toContain('<html lang="ru">'),
  },
])
