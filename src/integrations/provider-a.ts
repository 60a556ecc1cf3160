/** Payment provider A: YooKassa's API v3 (yookassa.ru/developers/api). */

import { base64, utf8 } from '#src/lib/encoding.ts'
import { errorCode, errorMessage } from '#src/lib/errors.ts'
import type { Log } from '#src/lib/log.ts'
import type { ProviderA } from '#src/services.ts'
import { jsonObject } from './json-answer.ts'
import type { Outbound } from './outbound.ts'

interface Options {
  apiUrl: string
  outbound: Outbound
  log: Log
  timeoutMs?: number
}

interface Credentials {
  shopId: string
  secretKey: string
}

const ANSWER_LIMIT_BYTES = 256 * 1024

/** A read of the API. `body` is null when it is no JSON object. */
async function get(
  { apiUrl, outbound }: Options,
  { shopId, secretKey }: Credentials,
  path: string,
  signal: AbortSignal,
): Promise<{ status: number; body: Record<string, unknown> | null }> {
  const answer = await outbound({
    method: 'GET',
    url: apiUrl + path,
    headers: { authorization: `Basic ${base64(utf8(`${shopId}:${secretKey}`))}` },
    signal,
    maxBytes: ANSWER_LIMIT_BYTES,
  })
  return { status: answer.status, body: answer.complete ? jsonObject(answer.body) : null }
}

/**
 * Asks `/me`. Its description is for partners and payouts, although it answers plain shops too: where it does not (403, 404), the
 * list of payments is asked instead.
 */
async function checkCredentials(
  options: Options,
  credentials: Credentials,
  signal: AbortSignal,
): Promise<'accepted' | 'rejected' | number> {
  let answer = await get(options, credentials, '/me', signal)
  if (answer.status === 403 || answer.status === 404) {
    answer = await get(options, credentials, '/payments?limit=1', signal)
  }
  if (answer.status === 401 || answer.status === 403) return 'rejected'
  return answer.status === 200 && answer.body !== null ? 'accepted' : answer.status
}

export function createProviderA(options: Options): ProviderA {
  const { log, timeoutMs = 10_000 } = options
  return {
    async check(shopId, secretKey) {
      try {
        const signal = AbortSignal.timeout(timeoutMs)
        const outcome = await checkCredentials(options, { shopId, secretKey }, signal)
        if (typeof outcome === 'string') return outcome
        log.warn('provider A gave no usable answer', { status: outcome })
      } catch (error) {
        log.warn('provider A could not be asked', {
          reason: errorCode(error) ?? errorMessage(error),
        })
      }
      return 'unreachable'
    },
  }
}
