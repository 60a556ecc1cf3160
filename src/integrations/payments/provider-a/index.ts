/** YooKassa. */
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { createProviderAGateway } from './gateway.ts'

export const providerA: GatewayDescriptor = {
  id: 'provider_a',
  connect: (parts) => createProviderAGateway({ ...parts, createTimeoutMs: parts.timeoutMs }),
}
