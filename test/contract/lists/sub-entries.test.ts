/** What stands in a list: the headers and the entries. */
import { expect } from 'vitest'
import { buyer, fetchAs, links } from '#test/support/calls/list-fetches.ts'
import {
  addDevice,
  addNode,
  addSubscription,
  addUser,
  DAY,
  inSeconds,
  putSettings,
} from '#test/support/rows/records.ts'
import type { Answer } from '#test/support/worlds/answer.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'

const CLIENT = { 'user-agent': 'v2rayNG/2.3.5' }
const list = (token: string) => fetchAs(token, CLIENT)

const names = (answer: Answer): string[] =>
  links(answer).map((link) => decodeURIComponent(link.split('#')[1] ?? ''))

scenarios('GET /sub/{token}: the headers of a list', [
  {
    name: '200 with exactly these headers',
    given: (w) => {
      putSettings(w, { BRAND_NAME: 'My Brand', SUPPORT_CONTACT: 'https://support.test/' })
      const token = addUser(w, 7)
      addSubscription(w, 7, { up_bytes: 10, down_bytes: 20 })
      addSubscription(w, 7, { up_bytes: 1, down_bytes: 2, expires_at: inSeconds(w, 90 * DAY) })
      addSubscription(w, 7, { up_bytes: 500, active: 0, expires_at: inSeconds(w, 900 * DAY) })
      return token
    },
    request: list,
    status: 200,
    effects: (_w, token, { headers }) =>
      expect(Object.fromEntries(headers)).toEqual({
        'cache-control': 'private, no-store',
        'content-disposition': `attachment; filename="My Brand"; filename*=UTF-8''My%20Brand`,
        'content-type': 'text/plain; charset=utf-8',
        'profile-title': `base64:${btoa('My Brand')}`,
        'profile-update-interval': '12',
        'profile-web-page-url': `https://sub.test/sub/${token}`,
        'referrer-policy': 'no-referrer',
        'strict-transport-security': 'max-age=31536000',
        'subscription-userinfo': `upload=11; download=22; total=0; expire=${Date.parse('2026-05-30T12:00:00Z') / 1000}`,
        'support-url': 'https://support.test/',
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex',
      }),
  },
  {
    name: '200 for the cabinet page of another origin, which may read it',
    given: buyer,
    request: (token) => fetchAs(token, { ...CLIENT, origin: 'https://site.test' }),
    status: 200,
    headers: { 'access-control-allow-origin': 'https://site.test', vary: /Origin/ },
  },
  {
    name: '200 with the bot for support where no contact is set',
    given: (w) => {
      putSettings(w, { BOT_USERNAME: 'some_bot' })
      return buyer(w)
    },
    request: list,
    status: 200,
    headers: { 'support-url': 'https://t.me/some_bot' },
  },
  {
    name: '200 with no support-url where there is nobody to ask',
    given: buyer,
    request: list,
    status: 200,
    headers: { 'support-url': null },
  },
  {
    name: '200 with plain header lines whatever the brand is called',
    given: (w) => {
      putSettings(w, { BRAND_NAME: 'Бренд"\r\nSet-Cookie: a=b' })
      return buyer(w)
    },
    request: list,
    status: 200,
    headers: { 'set-cookie': null, 'content-disposition': /^[\x20-\x7e]+$/ },
  },
  {
    name: '200 with no announcement a second before the last three days',
    given: (w) => {
      const token = addUser(w, 7)
      addSubscription(w, 7, { expires_at: inSeconds(w, 3 * DAY + 1) })
      return token
    },
    request: list,
    status: 200,
    headers: { announce: null },
  },
  {
    name: '200 with an announcement of the nearest expiry within three days',
    given: (w) => {
      const token = addUser(w, 7)
      addSubscription(w, 7, { expires_at: inSeconds(w, 90 * DAY) })
      addSubscription(w, 7, { expires_at: inSeconds(w, 3 * DAY) })
      return token
    },
    request: list,
    status: 200,
    headers: { announce: /^base64:[A-Za-z0-9+/]+=*$/ },
    effects: (_w, _token, { headers }) =>
      expect(atob((headers.get('announce') ?? '').slice(7))).toContain('04.03.2026'),
  },
  {
    name: '200 with the same status and headers but no body for HEAD',
    given: buyer,
    request: (token) => ({ ...list(token), method: 'HEAD' }),
    status: 200,
    body: '',
    effects: async (w, token, { headers }) => {
      const get = await w.call(`/sub/${token}`, { headers: CLIENT, host: 'sub.test' })
      expect(Object.fromEntries(headers)).toEqual(Object.fromEntries(get.headers))
      expect(get.text).not.toBe('')
    },
  },
])

scenarios('GET /sub/{token}: the entries of a list', [
  {
    name: '200 with an entry of each active subscription, oldest first, named by node and plan',
    given: (w) => {
      const token = addUser(w, 7)
      addNode(w, 'nl', { label: 'Нидерланды 🇳🇱' })
      addSubscription(w, 7, { plan: '3m', created_at: '2026-02-02T00:00:00' })
      addSubscription(w, 7, { node: 'nl', created_at: '2026-02-01T00:00:00' })
      addSubscription(w, 7, { plan: 'gone', created_at: '2026-02-03T00:00:00' })
      addSubscription(w, 7, { held_at: inSeconds(w, 0) })
      addSubscription(w, 7, { node: 'lost' })
      return token
    },
    request: list,
    status: 200,
    effects: (_w, _token, answer) =>
      expect(names(answer)).toEqual(['Нидерланды 🇳🇱', 'Local · 90 days', 'Local · gone']),
  },
  {
    name: '200 with the connection of the node in the link, the uuid of the subscription first',
    given: (w) => {
      const token = addUser(w, 7)
      addNode(w, 'nl', { port: 8443 })
      return { token, uuid: addSubscription(w, 7, { node: 'nl' }) }
    },
    request: ({ token }) => list(token),
    status: 200,
    effects: (_w, { uuid }, answer) => {
      const link = new URL(links(answer)[0] as string)
      expect([link.protocol, link.username, link.host]).toEqual([
        'vless:',
        uuid,
        'nl.nodes.test:8443',
      ])
      expect(Object.fromEntries(link.searchParams)).toMatchObject({
        security: 'reality',
        pbk: 'P'.repeat(43),
        sid: 'ab12',
        sni: 'sni.test',
        flow: 'xtls-rprx-vision',
      })
    },
  },
  {
    name: '200 with the shared uuid of an external node instead',
    given: (w) => {
      const token = addUser(w, 7)
      addNode(w, 'nl', { shared_uuid: '99999999-9999-4999-8999-999999999999' })
      addSubscription(w, 7, { node: 'nl' })
      return token
    },
    request: list,
    status: 200,
    effects: (w, _token, answer) => {
      expect(links(answer)[0]).toMatch(/^vless:\/\/99999999-9999-4999-8999-999999999999@/)
      expect(atob(answer.text)).not.toContain(w.rows('select uuid from subscriptions')[0].uuid)
    },
  },
  {
    name: '200 with the entries of a disabled and of a pending node',
    given: (w) => {
      const token = addUser(w, 7)
      for (const [code, more] of [
        ['off', { enabled: 0 }],
        ['new', { status: 'pending' }],
      ] as const) {
        addNode(w, code, more)
        addSubscription(w, 7, { node: code })
      }
      return token
    },
    request: list,
    status: 200,
    effects: (_w, _token, answer) =>
      expect(names(answer)).toEqual(['Label of off', 'Label of new']),
  },
  {
    name: '200 without what another user has bought',
    given: (w) => {
      addUser(w, 8)
      addSubscription(w, 8)
      return buyer(w)
    },
    request: list,
    status: 200,
    effects: (_w, _token, answer) => expect(links(answer)).toHaveLength(1),
  },
  {
    name: '200 and no device is registered while the limit is off',
    given: buyer,
    request: (token) => fetchAs(token, { ...CLIENT, 'x-hwid': 'device-0001' }),
    status: 200,
    headers: { 'x-hwid-active': null },
    effects: (w) => expect(w.rows('select * from devices')).toEqual([]),
  },
  {
    name: '200 for a user with a limit of 0 and known devices while the limit is off',
    given: (w) => {
      const token = buyer(w)
      addDevice(w, 7, 'device-0001')
      w.change('update users set hwid_limit = 0')
      return token
    },
    request: list,
    status: 200,
    effects: (_w, _token, answer) => expect(links(answer)).toHaveLength(1),
  },
])
