/** The payment gateways, one file each: another is a file, a row here and one in domain/payments/providers.ts. */
import type { Config } from '#src/config.ts'
import type { Clock } from '#src/lib/clock.ts'
import type { PaymentGateways } from '#src/ports/payment-gateway.ts'
import { createCryptobotGateway } from './cryptobot-gateway.ts'
import type { Outbound } from './outbound.ts'
import { createProviderAGateway } from './provider-a-gateway.ts'
import { createProviderB } from './provider-b.ts'
import { createStars } from './stars.ts'

interface Options {
  config: Pick<Config, 'providerAApiUrl' | 'cryptobotApiUrl' | 'telegramApiUrl'>
  outbound: Outbound
  clock: Clock
  /** Instead of each gateway's own limits. */
  timeoutMs?: number
}

/** All gateways, at the addresses of the configuration; each keeps to its limits of time. */
export function createGateways({ config, outbound, clock, timeoutMs }: Options): PaymentGateways {
  const limit = timeoutMs === undefined ? {} : { timeoutMs }
  const creationLimit = timeoutMs === undefined ? {} : { createTimeoutMs: timeoutMs }
  return {
    provider_a: createProviderAGateway({
      apiUrl: config.providerAApiUrl,
      outbound,
      ...limit,
      ...creationLimit,
    }),
    provider_b: createProviderB({ outbound, clock, ...limit }),
    stars: createStars({ apiUrl: config.telegramApiUrl, ...limit }),
    cryptobot: createCryptobotGateway({ apiUrl: config.cryptobotApiUrl, outbound, ...limit }),
  }
}
