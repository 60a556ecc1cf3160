/** The public pages where plans and subscriptions have a limit of traffic. */
import { expect } from 'vitest'
import { buyer, page } from '#test/support/calls/sub-visit.ts'
import {
  addSubscription,
  addUser,
  DAY,
  inSeconds,
  putSettings,
} from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const GB = 1024 ** 3

/** A page as people read it: what is between its tags, line by line. */
const linesOf = (text: string) =>
  text
    .slice(text.indexOf('<main'))
    .replace(/<svg[\s\S]*?<\/svg>/g, '')
    .split(/<[^>]*>/)
    .map((line) => line.replace(/\s/g, ' ').trim())
    .filter(Boolean)

const QUOTA = { quota_bytes: 100 * GB, quota_period: 'month' }

/** Somebody whose only subscription has a limit. */
function limitedBuyer(w: World, more: Record<string, string | number | null>): string {
  const token = addUser(w, 7)
  addSubscription(w, 7, { ...QUOTA, ...more })
  return token
}

scenarios('GET /sub/{token} in a browser, with a limit of traffic', [
  {
    name: '200 with what is used, and until when that counts',
    given: (w) => limitedBuyer(w, { used_bytes: 12.5 * GB, resets_at: inSeconds(w, 9 * DAY) }),
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => {
      const lines = linesOf(text)
      expect(lines).toContain('Subscription active')
      expect(lines).toContain('Traffic: 12.5 of 100 GB, until 10 March')
      expect(lines).toContain('30 days left')
      expect(text).toContain('<meter value="0.125" aria-hidden="true"></meter>')
    },
  },
  {
    name: '200 that says first that all is used up, and when it comes back',
    given: (w) =>
      limitedBuyer(w, {
        used_bytes: 100 * GB,
        resets_at: inSeconds(w, 9 * DAY),
        limited_at: inSeconds(w, -DAY),
      }),
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => {
      const lines = linesOf(text)
      expect(lines.slice(0, 2)).toEqual(['Traffic used up', 'comes back on 10 March'])
      expect(lines).toContain('traffic used up')
      expect(lines).toContain('Traffic: 100 of 100 GB, comes back on 10 March')
      expect(text).toContain('<title>Traffic used up')
    },
  },
  {
    name: '200 as active while one of several has traffic left, in Russian',
    given: (w) => {
      const token = limitedBuyer(w, { used_bytes: 100 * GB, limited_at: inSeconds(w, -DAY) })
      addSubscription(w, 7, { expires_at: inSeconds(w, 40 * DAY) })
      return token
    },
    request: (token: string) => ({ ...page(token), path: `${page(token).path}?lang=ru` }),
    status: 200,
    effects: (_w, _token, { text }) => {
      const lines = linesOf(text)
      expect(lines[0]).toBe('Подписка активна')
      expect(lines).toContain('трафик израсходован')
      expect(lines).toContain('Трафик: 100 из 100 ГБ, вернётся после продления')
      expect(text.match(/<meter/g)).toHaveLength(1)
    },
  },
  {
    name: '200 without a word of traffic where nothing has a limit',
    given: buyer,
    request: page,
    status: 200,
    effects: (_w, _token, { text }) => {
      expect(linesOf(text).join()).not.toMatch(/traffic/i)
      expect(text).not.toMatch(/<meter|class="traffic/)
    },
  },
])

const landing = { path: '/', host: 'site.test', headers: { 'accept-language': 'en' } }
const limitPlan = (w: World) =>
  w.change(
    "update plans set quota_gb = 100, quota_period = 'rolling', hwid_limit = 5 where code = '1m'",
  )

scenarios('GET / with limits of plans', [
  {
    name: '200 with the traffic of plans, and of devices nothing while nobody counts them',
    given: limitPlan,
    request: landing,
    status: 200,
    effects: (_w, _given, { text }) => {
      const lines = linesOf(text)
      expect(lines.filter((line) => /GB|traffic|devices/.test(line))).toEqual([
        '100 GB a month',
        ...['unlimited traffic', 'unlimited traffic', 'unlimited traffic'],
      ])
    },
  },
  {
    name: '200 with the devices of each plan where one has a number of its own',
    given: (w) => {
      putSettings(w, { HWID_LIMIT_ENABLED: 'true', HWID_FALLBACK_LIMIT: '3' })
      limitPlan(w)
    },
    request: landing,
    status: 200,
    effects: (_w, _given, { text }) => {
      const lines = linesOf(text)
      expect(lines.filter((line) => /GB|up to/i.test(line))).toEqual([
        ...['100 GB a month', 'up to 5 devices'],
        ...['up to 3 devices', 'up to 3 devices', 'up to 3 devices'],
      ])
    },
  },
])
