/** The payment gateways, in the order in which people are offered them. The only list: another is a folder and its name here. */
import type { Config } from '#src/config.ts'
import type {
  GatewayDescriptor,
  GatewayParts,
  PaymentGateway,
  PaymentGateways,
} from '#src/ports/payment-gateway.ts'
import { cryptobot } from './cryptobot/index.ts'
import { providerA } from './provider-a/index.ts'
import { providerB } from './provider-b/index.ts'
import { stars } from './stars/index.ts'

export const GATEWAYS: readonly GatewayDescriptor[] = [providerA, providerB, stars, cryptobot]

interface Options extends Omit<GatewayParts, 'apiUrl'> {
  config: Pick<Config, 'providerAApiUrl' | 'cryptobotApiUrl' | 'telegramApiUrl'>
}

/** All gateways, at the addresses of the configuration; each keeps to its limits of time. */
export function createGateways({ config, ...parts }: Options): PaymentGateways {
  const apiUrls: Record<GatewayDescriptor['id'], string> = {
    provider_a: config.providerAApiUrl,
    provider_b: '',
    stars: config.telegramApiUrl,
    cryptobot: config.cryptobotApiUrl,
  }
  const connected = GATEWAYS.map(({ id, connect }): [string, PaymentGateway] => [
    id,
    connect({ ...parts, apiUrl: apiUrls[id] }),
  ])
  return Object.fromEntries(connected) as PaymentGateways
}
