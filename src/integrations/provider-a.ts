/** Payment provider A: YooKassa's API v3 (yookassa.ru/developers/api). */

import type { Log } from '#src/lib/log.ts'
import type { ProviderA } from '#src/ports/credential-check.ts'
import { callGateway, type GatewayAnswer, unanswered } from './gateway-call.ts'
import type { Outbound } from './outbound.ts'
import { authorization } from './provider-a-gateway.ts'

interface Options {
  apiUrl: string
  outbound: Outbound
  log: Log
  timeoutMs?: number
}

const isForbidden = ({ status }: GatewayAnswer) => status === 403

/** The check of provider A's credentials, at `apiUrl`. */
export function createProviderA(options: Options): ProviderA {
  const { apiUrl, outbound, log, timeoutMs = 10_000 } = options
  return {
    async check(shopId, secret) {
      const signal = AbortSignal.timeout(timeoutMs)
      const headers = { authorization: authorization({ shopId, secret }) }
      const get = (path: string) =>
        callGateway(outbound, { method: 'GET', url: apiUrl + path, headers, signal })
      // Its description is for partners and payouts, although it answers plain shops too: where it does not, payments are asked for.
      const me = await get('/me')
      const answer = isForbidden(me) || me.status === 404 ? await get('/payments?limit=1') : me
      if (answer.status === 401 || isForbidden(answer)) return 'rejected'
      if (answer.status === 200 && answer.body !== null) return 'accepted'
      const { reason } = unanswered(answer)
      log.warn('provider A gave no usable answer', { status: answer.status, reason })
      return 'unreachable'
    },
  }
}
