/** Subscription links as browsers open them. */
import {
  addSubscription,
  addUser,
  DAY,
  inSeconds,
  putSettings,
} from '#test/support/rows/records.ts'
import type { World } from '#test/support/worlds/world.ts'

export const BROWSER = { 'user-agent': 'Mozilla/5.0', accept: 'text/html', 'accept-language': 'en' }

export const page = (token: string) => ({
  path: `/sub/${token}`,
  host: 'sub.test',
  headers: BROWSER,
})

/** Someone with a subscription of 30 days, in a shop with a name and a bot; gives their token. */
export function buyer(w: World): string {
  putSettings(w, { BRAND_NAME: 'Fast Tunnel', BOT_USERNAME: 'some_bot' })
  const token = addUser(w, 7)
  addSubscription(w, 7, { expires_at: inSeconds(w, 30 * DAY) })
  return token
}

export const NOT_KEPT = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'private, no-store',
  'x-robots-tag': 'noindex',
}

export const footerOf = (text: string) => text.slice(text.indexOf('<footer'))
