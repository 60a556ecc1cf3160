/** The payment providers: what they are called, which are ready, which are switched on. */
import type { Settings } from '#src/domain/settings.ts'
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { isTrue } from '#src/settings/kinds.ts'

export interface Provider {
  id: string
  /** The gateway's name. */
  label: string
  enabled: boolean
  /** Whether it has what it needs to take a payment. */
  configured: boolean
  /** The only currency that it takes, where that is not the shop's. */
  currency: string | null
}

/** What is known of a provider; undefined for one that is not there (any more). */
export const findGateway = (
  { gateways }: Pick<Settings, 'gateways'>,
  id: string,
): GatewayDescriptor | undefined => gateways.find((one) => one.id === id)

/** Every provider, in the order in which people are offered them. */
export const listProviders = ({ gateways, ofGateway }: Settings): Provider[] =>
  gateways.map((gateway) => {
    const shop = gateway.shop(ofGateway)
    return {
      id: gateway.id,
      label: gateway.label(shop),
      enabled: isTrue(ofGateway(gateway.enabledKey)),
      configured: gateway.isComplete(shop),
      currency: gateway.currency ?? null,
    }
  })

/** A reader of providers' labels, as they are called now. */
export function providerLabels(settings: Settings): (id: string) => string {
  const labels = new Map(listProviders(settings).map(({ id, label }) => [id, label]))
  return (id) => labels.get(id) ?? id
}
