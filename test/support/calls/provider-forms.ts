import { GATEWAYS } from '#src/integrations/payments/index.ts'

export const noB = {
  enabled: false,
  preset: 'platega',
  merchant_id: '',
  api_url: 'https://app.platega.io',
  has_secret: false,
}

/** All providers as a list shows them before anything is set, but for these changes. */
export const listed = (changes: Record<string, object> = {}) =>
  GATEWAYS.map(({ id, label, shop }) => ({
    id,
    label: label(shop(() => '')),
    enabled: false,
    configured: false,
    ...changes[id],
  }))
