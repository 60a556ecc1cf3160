/** The payment gateways, in the order in which people are offered them. The only list: another is a folder and its name here. */
import type { Config } from '#src/config.ts'
import type {
  GatewayDescriptor,
  GatewayParts,
  PaymentGateways,
} from '#src/ports/payment-gateway.ts'
import { cryptobot } from './cryptobot/index.ts'
import { providerA } from './provider-a/index.ts'
import { providerB } from './provider-b/index.ts'
import { stars } from './stars/index.ts'

export const GATEWAYS: readonly GatewayDescriptor[] = [providerA, providerB, stars, cryptobot]

export const GATEWAY_IDS: readonly string[] = GATEWAYS.map(({ id }) => id)

interface Options extends Omit<GatewayParts, 'apiUrl'> {
  config: Pick<Config, 'gateways' | 'gatewayUrls'>
}

/** All gateways, at the addresses of the configuration; each keeps to its limits of time. */
export const connectGateways = ({ config, ...parts }: Options): PaymentGateways =>
  Object.fromEntries(
    config.gateways.map(({ id, connect }) => [
      id,
      connect({ ...parts, apiUrl: config.gatewayUrls[id] ?? '' }),
    ]),
  )
