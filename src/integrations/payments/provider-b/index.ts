/** The gateway that a preset names: Platega, cisPay, or one that speaks the API of docs/gateways.md. */
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { createProviderB } from './gateway.ts'

export const providerB: GatewayDescriptor = { id: 'provider_b', connect: createProviderB }
