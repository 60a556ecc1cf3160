/** Crypto Pay, the API of @CryptoBot (help.crypt.bot/crypto-pay-api). */
import type { Log } from '#src/lib/log.ts'
import type { Cryptobot } from '#src/ports/credential-check.ts'
import { callGateway, unanswered } from './gateway-call.ts'
import type { Outbound } from './outbound.ts'

interface Options {
  apiUrl: string
  outbound: Outbound
  log: Log
  timeoutMs?: number
}

/** The check of a token of Crypto Pay, at `apiUrl`. */
export function createCryptobot({ apiUrl, outbound, log, timeoutMs = 10_000 }: Options): Cryptobot {
  return {
    async check(token) {
      const answer = await callGateway(outbound, {
        method: 'GET',
        url: `${apiUrl}/getMe`,
        headers: { 'crypto-pay-api-token': token },
        signal: AbortSignal.timeout(timeoutMs),
      })
      // `{ok, result}` or `{ok: false, error: {code, name}}`.
      const ok = answer.status === null ? undefined : answer.body?.ok
      if (ok === true && answer.status === 200) return 'accepted'
      if (ok === false && (answer.status === 401 || answer.status === 403)) return 'rejected'
      const { reason } = unanswered(answer)
      log.warn('Crypto Pay gave no usable answer', { status: answer.status, reason })
      return 'unreachable'
    },
  }
}
