/**
 * The gateways as everybody asks them: one that wants to be left alone is. Each process of an installation learns that from the
 * answers to its own questions, and forgets it when it ends: another one asks once more, and hears the same.
 */
import type { PaymentGateway, Unanswered } from '#src/ports/payment-gateway.ts'
import type { Services } from '#src/services.ts'

export type GatewayDeps = Pick<Services, 'gateways' | 'gatewayRests'>

/** Asks, and keeps the rest that the answer wants; while one lasts nothing is asked, and `unanswered` makes the answer. */
async function ask<T extends object>(
  { gatewayRests }: GatewayDeps,
  provider: string,
  question: () => Promise<T>,
  unanswered: (why: Unanswered) => T,
): Promise<T> {
  const leftMs = gatewayRests.leftMs(provider)
  if (leftMs > 0) {
    return unanswered({ reason: 'the gateway wants to be left alone', retryAfterMs: leftMs })
  }
  const answer: T & Partial<Unanswered> = await question()
  if (answer.retryAfterMs != null) gatewayRests.rest(provider, answer.retryAfterMs)
  return answer
}

type AskedGateway = Required<Pick<PaymentGateway, 'create' | 'check' | 'listSucceeded'>>

/**
 * A provider's gateway; undefined for one that is not there (any more). What is asked of it while it rests has no answer, with the
 * time that is left of the rest.
 */
export function gatewayOf(s: GatewayDeps, provider: string): AskedGateway | undefined {
  const gateway = s.gateways[provider]
  if (!gateway) return undefined
  const noList = { reason: 'the gateway has no list', retryAfterMs: null }
  return {
    create: (order, shop) =>
      ask(
        s,
        provider,
        () => gateway.create(order, shop),
        (why) => ({ outcome: 'unknown', ...why }),
      ),
    check: (payment, shop) =>
      ask(
        s,
        provider,
        () => gateway.check(payment, shop),
        (why) => ({ state: 'unknown', ...why }),
      ),
    listSucceeded: (since, shop) =>
      ask(
        s,
        provider,
        async () => (await gateway.listSucceeded?.(since, shop)) ?? noList,
        (why) => why,
      ),
  }
}
