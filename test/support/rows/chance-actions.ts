import { redeemGift } from '#src/domain/subscriptions/gifts.ts'
import type { World } from '#test/support/worlds/world.ts'
import { addDevice, addPayment, addUser, DAY, inSeconds } from './records.ts'

/** A small generator (mulberry32): the same numbers for the same seed. */
export function createChance(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    below: (n: number) => Math.floor(next() * n),
    of: <T>(all: T[]): T | undefined => all[Math.floor(next() * all.length)],
  }
}

const USERS = [1, 2, 3, 4, 5, 6, 7, 8]

/** Everything that changes what is counted; most of it is refused in some states, which changes nothing. */
export function actionsOf(w: World, chance: ReturnType<typeof createChance>) {
  const post = (path: string, body: unknown = {}) => w.admin(`/admin/api/${path}`, { body })
  const someUser = () => chance.of(USERS) ?? 1
  const someUuid = () =>
    chance.of(w.rows('select uuid from subscriptions').map((row) => row.uuid as string)) ?? 'none'
  const order = () => ({ node: chance.of(['de1', 'nl1']), plan: chance.of(['1m', '3m']) })
  const onOne = (action: string, body?: unknown) => () =>
    post(`subscriptions/${someUuid()}/${action}`, body)
  const edit = (body: object) =>
    w.admin(`/admin/api/subscriptions/${someUuid()}`, { method: 'PATCH', body })
  let made = 0
  return {
    grant: () => post(`users/${someUser()}/grant`, order()),
    hold: onOne('hold'),
    resume: onOne('resume'),
    disable: onOne('disable'),
    enable: onOne('enable'),
    revoke: onOne('revoke'),
    extend: onOne('extend', { days: 10 }),
    'reset traffic': onOne('reset-traffic'),
    'another end': () => edit({ expires_at: inSeconds(w, (chance.below(60) - 20) * DAY) }),
    'another plan': onOne('change', { plan: '3m' }),
    'another node': () => edit({ node: chance.of(['de1', 'nl1']) }),
    'move all': () => post('nodes/nl1/move', { to: 'de1' }),
    'another link': () => post(`users/${someUser()}/rotate-token`),
    'ban or not': () =>
      w.admin(`/admin/api/users/${someUser()}`, {
        method: 'PATCH',
        body: { banned: chance.below(2) === 0 },
      }),
    'delete a user': () => w.admin(`/admin/api/users/${someUser()}`, { method: 'DELETE' }),
    'extend many': () => post('users/bulk', { action: 'extend', tg_ids: USERS, days: 3 }),
    'grant many': () => post('users/bulk', { action: 'grant', tg_ids: [1, 2], ...order() }),
    'ban many': () => post('users/bulk', { action: 'ban', tg_ids: [3, 4, 5] }),
    gift: async () => {
      const { code } = (await post('gift-codes', order())).json
      const tgId = someUser()
      if (w.rows('select 1 from users where tg_id = ?', tgId).length === 0) addUser(w, tgId)
      await redeemGift(w.s, tgId, code)
    },
    payment: async () => {
      const id = `payment-${++made}`
      const currency = chance.of(['RUB', 'EUR']) as string
      addPayment(w, { id, tg_id: someUser(), currency, review_reason: 'to be looked at' })
      await post(`payments/${id}/grant`)
      if (chance.below(3) === 0) await post(`payments/${id}/refunded`, { revoke: true })
    },
    device: async () => {
      const [user] = w.rows('select tg_id from users limit 1')
      if (user) addDevice(w, user.tg_id, `device-id-${++made}`)
    },
    traffic: async () => {
      w.change(
        'update subscriptions set up_bytes = up_bytes + 5, down_bytes = 9 where uuid = ?',
        someUuid(),
      )
    },
    time: async () => w.clock.advance(chance.below(20) * DAY * 1000),
  }
}
