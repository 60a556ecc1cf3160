/** Users of all kinds for the listing, and a walk over its pages. */
import { expect } from 'vitest'
import type { World } from '#test/support/worlds/world.ts'
import { addDevice, addPayment, addSubscription, addUser, DAY, inSeconds } from './records.ts'

export const PAYMENT = '0aaaaaaa-0000-4000-8000-00000000000a'

/** Users of every kind; the newest is 8. */
export function shop(w: World) {
  const day = (n: number) => ({ created_at: `2026-01-0${n}T00:00:00` })
  addUser(w, 71, { username: 'Alice', note: 'vip', ...day(1) })
  addUser(w, 7, { username: 'alan_b', banned_at: '2026-02-01T00:00:00', ...day(2) })
  addUser(w, 9, { username: 'bob', blocked_at: '2026-02-02T00:00:00', ...day(3) })
  addUser(w, 10, day(4))
  const token = addUser(w, 8, day(5))
  const uuid = addSubscription(w, 71, { expires_at: inSeconds(w, 9 * DAY) })
  addSubscription(w, 71, { expires_at: inSeconds(w, 5 * DAY) })
  addSubscription(w, 71, { held_at: inSeconds(w, -9), expires_at: inSeconds(w, 1) })
  addSubscription(w, 71, { active: 0 })
  addSubscription(w, 7, { held_at: inSeconds(w, -9) })
  addSubscription(w, 7, { expires_at: inSeconds(w, -9) })
  addSubscription(w, 9, { expires_at: inSeconds(w, 0) })
  addSubscription(w, 10, { active: 0 })
  addDevice(w, 71, 'device-0001')
  addDevice(w, 71, 'device-0002')
  addPayment(w, { id: PAYMENT, tg_id: 9 })
  return { token, uuid }
}

export const ids = (answer: { json: { tg_id: number }[] }) => answer.json.map((user) => user.tg_id)

export async function walk(w: World, first: string): Promise<number[]> {
  const seen: number[] = []
  const totals = new Set<string | null>()
  let path: string | undefined = first
  while (path !== undefined) {
    const answer = await w.admin(path)
    seen.push(...ids(answer))
    totals.add(answer.headers.get('x-total-count'))
    path = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1]
  }
  expect([...totals]).toEqual([String(seen.length)])
  return seen
}

/** `count` users, three of each second; every seventh has an active subscription. */
export function crowd(w: World, count: number): void {
  const numbers = Array.from({ length: count }, (_, i) => i)
  w.changeMany(
    'insert into users (tg_id, username, token, created_at) values (?, ?, ?, ?)',
    numbers.map((i) => [1000 + i, `user_${i}`, `t${i}`, inSeconds(w, -Math.floor(i / 3))]),
  )
  w.changeMany(
    "insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at) values (?, ?, 'de1', '1m', '2027-01-01T00:00:00', 'admin', '2026-01-01T00:00:00')",
    numbers.filter((i) => i % 7 === 0).map((i) => [`s${i}`, 1000 + i]),
  )
  // PostgreSQL looks by itself within a minute: in the middle of these rows it would take the tables for empty.
  w.change('analyze')
}
