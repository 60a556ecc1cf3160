/** Orders of the cabinet, and what came of them. */
import type { Answer } from '#test/support/worlds/answer.ts'
import { expectDecent } from '#test/support/worlds/scenario.ts'
import type { Shop } from '#test/support/worlds/shop.ts'

export const ORDER = { node: 'de1', plan: '1m', provider: 'provider_a' }

export async function orderIn(shop: Shop, body: object, token = shop.token): Promise<Answer> {
  const path = `/api/cabinet/${token}/payments`
  const answer = await shop.w.call(path, { body })
  expectDecent(path, answer)
  return answer
}

/** The calls that asked the provider for a payment. */
export const creationsOf = (shop: Shop) => shop.a.calls.filter(({ method }) => method === 'create')

export const paymentsOf = (shop: Shop) => shop.w.rows('select * from payments order by seq')
