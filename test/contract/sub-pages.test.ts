import { expect } from 'vitest'
import { APPS } from '#src/web/apps.ts'
import {
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
      expect(text).toContain('30 days, ')
      expect(text).toContain('31.03.2026')
      expect(text).toContain('https://t.me/some_bot')
      expect(text).not.toMatch(
        /<script|https?:\/\/(?!sub\.test|t\.me|apps\.apple|play\.google|github)/,
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
      expect(text).toContain('Subscription ended')
      expect(text).toContain('href="https://t.me/some_bot"')
      expect(text).toContain('Fast Tunnel')
      expect(text).not.toContain(token)
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
      expect(text).not.toContain('</script>')
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
  ...APPS.map(({ id }) => ({
    name: `200 with the link that opens ${id}`,
    given: buyer,
    request: open(id),
    status: 200,
    headers: NOT_KEPT,
    effects: (_w: World, token: string, { text }: { text: string }) => {
      const url = `https://sub.test/sub/${token}`
      expect(text).toMatch(new RegExp(`href="${id.replace('v2rayng', 'v2rayng')}://`))
      expect(text.includes(url) && text.includes('://')).toBe(true)
      expect(text).toContain(`href="${url}"`)
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
