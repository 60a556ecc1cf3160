/** YooKassa. */
import * as v from 'valibot'
import { secretText } from '#src/lib/values.ts'
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { SECRET_KEY } from '../labels.ts'
import { createProviderAGateway } from './gateway.ts'
import { notices } from './notices.ts'

/** A colon would end the name in Basic authentication (RFC 7617). */
const shopId = v.pipe(secretText(64), v.regex(/^[^:]+$/, 'must not hold a colon'))

export const providerA: GatewayDescriptor = {
  id: 'provider_a',
  docs: 'YooKassa',
  enabledKey: 'PROVIDER_A_ENABLED',
  settings: [
    {
      key: 'PROVIDER_A_SHOP_ID',
      name: 'shop_id',
      label: { en: 'Shop id', ru: 'Id магазина' },
      value: shopId,
      docs: 'id of the shop at YooKassa',
    },
    {
      key: 'PROVIDER_A_SECRET_KEY',
      name: 'secret_key',
      label: SECRET_KEY,
      secret: true,
      value: secretText(256),
      docs: 'its secret key',
    },
  ],
  ownRoute: {
    name: 'provider-a-settings',
    reading: 'Credentials of YooKassa, without the secret',
    saving: 'Set the credentials of YooKassa; it is asked whether they are right',
  },
  apiUrl: { key: 'PROVIDER_A_API_URL', fallback: 'https://api.yookassa.ru/v3' },
  shop: (read) => ({ shopId: read('PROVIDER_A_SHOP_ID'), secret: read('PROVIDER_A_SECRET_KEY') }),
  isComplete: ({ shopId, secret }) => shopId !== '' && secret !== '',
  notices: [notices],
  label: () => 'YooKassa',
  connect: (parts) => createProviderAGateway({ ...parts, createTimeoutMs: parts.timeoutMs }),
}
