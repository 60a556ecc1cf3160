/** Crypto Pay, the API of @CryptoBot (help.crypt.bot/crypto-pay-api). */
import { errorCode, errorMessage } from '#src/lib/errors.ts'
import type { Log } from '#src/lib/log.ts'
import type { CredentialCheck, Cryptobot } from '#src/services.ts'
import { jsonObject } from './json-answer.ts'
import type { Outbound } from './outbound.ts'

interface Options {
  apiUrl: string
  outbound: Outbound
  log: Log
  timeoutMs?: number
}

const ANSWER_LIMIT_BYTES = 256 * 1024

/** What an answer to getMe says of the token: `{ok, result}` or `{ok: false, error: {code, name}}`. */
function readCheck(status: number, answer: Record<string, unknown> | null): CredentialCheck {
  if (answer?.ok === true && status === 200) return 'accepted'
  return answer?.ok === false && (status === 401 || status === 403) ? 'rejected' : 'unreachable'
}

export function createCryptobot({ apiUrl, outbound, log, timeoutMs = 10_000 }: Options): Cryptobot {
  return {
    async check(token) {
      try {
        const { status, body, complete } = await outbound({
          method: 'GET',
          url: `${apiUrl}/getMe`,
          headers: { 'crypto-pay-api-token': token },
          signal: AbortSignal.timeout(timeoutMs),
          maxBytes: ANSWER_LIMIT_BYTES,
        })
        const outcome = readCheck(status, complete ? jsonObject(body) : null)
        if (outcome === 'unreachable') log.warn('Crypto Pay gave no usable answer', { status })
        return outcome
      } catch (error) {
        log.warn('Crypto Pay could not be asked', {
          reason: errorCode(error) ?? errorMessage(error),
        })
        return 'unreachable'
      }
    },
  }
}
