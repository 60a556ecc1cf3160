/** What an admin asks of payments. */
import { expect } from 'vitest'
import { ask, expectDecent } from '#test/support/worlds/scenario.ts'
import type { Shop } from '#test/support/worlds/shop.ts'

const BASE = '/admin/api/payments'

/** Closes a shop in which requests may have been refused: none failed, and the books balance. */
export function closeDesk({ w }: Shop): void {
  expect(w.fatal).toEqual([])
  expect(w.log.filter((line) => line.includes('request failed'))).toEqual([])
  expect(w.faults()).toEqual([])
  w.close()
}

export async function getPayments({ w }: Shop, query = '') {
  const path = `${BASE}${query}`
  const answer = await ask(w, { path })
  expectDecent(path, answer)
  return answer
}

export const postPayments = ({ w }: Shop, path: string, body?: unknown) =>
  ask(w, { path: `${BASE}${path}`, method: 'POST', ...(body === undefined ? {} : { body }) })
