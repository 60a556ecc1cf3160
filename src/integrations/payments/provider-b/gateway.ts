/** Payment provider B: the gateway that the preset names. */
import type { JsonObject } from '#src/lib/json.ts'
import type {
  Created,
  GatewayParts,
  PaymentGateway,
  ShopCredentials,
} from '#src/ports/payment-gateway.ts'
import {
  callGateway,
  type GatewayAnswer,
  type GatewayRequest,
  gatewayWords,
  isRefusal,
  NO_ID,
  REJECTED,
  unanswered,
} from '../gateway-call.ts'
import { cispay } from './cispay.ts'
import { generic } from './generic.ts'
import { platega } from './platega.ts'
import type { Preset } from './preset.ts'

const PRESETS = new Map<string | undefined, Preset>(Object.entries({ platega, cispay, generic }))
const NOT_SET = 'the gateway is not set up: preset or address is missing'

const isSuccess = (answer: GatewayAnswer): answer is { status: number; body: JsonObject } =>
  (answer.status === 200 || answer.status === 201) && answer.body !== null

/** Where the gateways put their words about a refusal. */
function refusalReason({ status, body }: { status: number; body: JsonObject }, secret: string) {
  if (status === 401 || status === 403) return REJECTED
  const words = [body.message, body.detail, body.title, body.error, body.description]
    .map((text) => gatewayWords(text, [secret]))
    .find((text) => text !== '')
  return words ?? `answered ${status}`
}

/** Payments through the gateway that the shop's preset names, at the shop's address. Asked twice for an order it makes two payments. */
export function createProviderB({
  outbound,
  clock,
  timeoutMs = 10_000,
}: Omit<GatewayParts, 'apiUrl'>): PaymentGateway {
  const send = (
    preset: Preset,
    shop: ShopCredentials,
    request: Pick<GatewayRequest, 'method' | 'json' | 'signal'> & { path: string },
  ) =>
    callGateway(outbound, {
      ...request,
      url: `${shop.apiUrl}${request.path}`,
      headers: preset.headers(shop),
    })

  function readCreated(preset: Preset, answer: { status: number; body: JsonObject }): Created {
    const created = preset.readCreated(answer.body)
    if (!created) return { outcome: 'unknown', ...unanswered({ ...answer, status: 200 }) }
    const { externalId, payUrl, lifeMs } = created
    if (payUrl === null) return { outcome: 'refused', reason: 'the gateway gave no link to pay by' }
    const expiresAt = lifeMs === null ? null : new Date(clock.now().getTime() + lifeMs)
    return { outcome: 'created', externalId, payUrl, expiresAt }
  }

  return {
    idempotent: false,

    async create(order, shop) {
      const preset = PRESETS.get(shop.preset)
      if (!preset || !shop.apiUrl) return { outcome: 'refused', reason: NOT_SET }
      const signal = AbortSignal.timeout(timeoutMs)
      let outcome: Created = { outcome: 'refused', reason: NOT_SET }
      for (const json of preset.creations(order)) {
        const answer = await send(preset, shop, {
          method: 'POST',
          path: preset.creationPath,
          json,
          signal,
        })
        if (isSuccess(answer)) return readCreated(preset, answer)
        if (!isRefusal(answer)) return { outcome: 'unknown', ...unanswered(answer) }
        outcome = { outcome: 'refused', reason: refusalReason(answer, shop.secret) }
        if (outcome.reason === REJECTED) break
      }
      return outcome
    },

    async check({ externalId }, shop) {
      const preset = PRESETS.get(shop.preset)
      if (!preset || !shop.apiUrl) return { state: 'unknown', reason: NOT_SET, retryAfterMs: null }
      const path = preset.checkPath(externalId)
      if (path === null) return { state: 'unknown', reason: NO_ID, retryAfterMs: null }
      const answer = await send(preset, shop, {
        method: 'GET',
        path,
        signal: AbortSignal.timeout(timeoutMs),
      })
      const state = isSuccess(answer) ? preset.readState(answer.body, externalId) : null
      return state ?? { state: 'unknown', ...unanswered(answer) }
    },
  }
}
