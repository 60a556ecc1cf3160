/** YooKassa. */
import * as v from 'valibot'
import { secretText } from '#src/lib/values.ts'
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { createProviderAGateway } from './gateway.ts'

/** A colon would end the name in Basic authentication (RFC 7617). */
const shopId = v.pipe(secretText(64), v.regex(/^[^:]+$/, 'must not hold a colon'))

export const providerA: GatewayDescriptor = {
  id: 'provider_a',
  enabledKey: 'PROVIDER_A_ENABLED',
  settings: [
    { key: 'PROVIDER_A_SHOP_ID', name: 'shop_id', value: shopId },
    { key: 'PROVIDER_A_SECRET_KEY', name: 'secret_key', value: secretText(256) },
  ],
  apiUrl: { key: 'PROVIDER_A_API_URL', fallback: 'https://api.yookassa.ru/v3' },
  shop: (read) => ({ shopId: read('PROVIDER_A_SHOP_ID'), secret: read('PROVIDER_A_SECRET_KEY') }),
  isComplete: ({ shopId, secret }) => shopId !== '' && secret !== '',
  label: () => 'YooKassa',
  connect: (parts) => createProviderAGateway({ ...parts, createTimeoutMs: parts.timeoutMs }),
}
