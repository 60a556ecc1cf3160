import { expect } from 'vitest'
import { buyer, footerOf, NOT_KEPT, page } from '#test/support/calls/sub-visit.ts'
import {
  addSubscription,
  addUser,
  DAY,
  inSeconds,
  putSettings,
} from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

/** Makes the shop of the site open. */
const openShop = (w: World) =>
  putSettings(w, { PAYMENTS_ENABLED: '1', STARS_ENABLED: '1', BOT_TOKEN: '1:x' })

const sell = (w: World) => {
  openShop(w)
  w.change('update plans set price_stars = 100')
}

scenarios('GET /sub/{token} in a browser: the end, and the way to pay', [
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
      expect(text).toContain('It was active until 27 February 2026.')
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
      expect(text.replace(footerOf(text), '')).not.toContain('cabinet.html#')
      expect(text).not.toContain('Renew')
      expect(text).toContain('https://t.me/some_bot')
    },
  },
])
