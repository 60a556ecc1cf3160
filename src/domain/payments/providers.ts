/** The payment providers: what they are called, which are ready, which are switched on. */
import type { LiveKey } from '#src/config.ts'
import type { Settings } from '#src/domain/settings.ts'

export const PROVIDER_IDS = ['provider_a', 'provider_b', 'stars', 'cryptobot'] as const
export type ProviderId = (typeof PROVIDER_IDS)[number]

export const PRESET_IDS = ['platega', 'cispay', 'generic'] as const
export type PresetId = (typeof PRESET_IDS)[number]

/** The gateways that provider B can be; the generic one is wherever the admin says. */
export const PRESETS: Record<PresetId, { label: string; apiUrl: string }> = {
  platega: { label: 'Platega', apiUrl: 'https://app.platega.io' },
  cispay: { label: 'cisPay', apiUrl: 'https://api.cispay.app' },
  generic: { label: 'Payment gateway', apiUrl: '' },
}

/** Provider B as it is set now. */
export function providerB(settings: Settings) {
  const stored = settings.text('PROVIDER_B_PRESET')
  const preset = PRESET_IDS.find((id) => id === stored) ?? 'platega'
  return {
    preset,
    label: PRESETS[preset].label,
    merchantId: settings.text('PROVIDER_B_MERCHANT_ID'),
    secret: settings.text('PROVIDER_B_SECRET'),
    // Paths are appended to it.
    apiUrl: settings.text('PROVIDER_B_API_URL').replace(/\/+$/, '') || PRESETS[preset].apiUrl,
  }
}

/** The setting that switches a provider on. */
export const ENABLED_KEYS: Record<ProviderId, LiveKey> = {
  provider_a: 'PROVIDER_A_ENABLED',
  provider_b: 'PROVIDER_B_ENABLED',
  stars: 'STARS_ENABLED',
  cryptobot: 'CRYPTOBOT_ENABLED',
}

export interface Provider {
  id: ProviderId
  /** The gateway's name. */
  label: string
  enabled: boolean
  /** Whether it has what it needs to take a payment. */
  configured: boolean
}

/** Every provider, in the order in which people are offered them. */
export function listProviders(settings: Settings): Provider[] {
  const b = providerB(settings)
  const filled = (...keys: LiveKey[]) => keys.every((key) => settings.text(key) !== '')
  const known: Record<ProviderId, Pick<Provider, 'label' | 'configured'>> = {
    provider_a: {
      label: 'YooKassa',
      configured: filled('PROVIDER_A_SHOP_ID', 'PROVIDER_A_SECRET_KEY'),
    },
    provider_b: {
      label: b.label,
      configured: [b.merchantId, b.secret, b.apiUrl].every((text) => text !== ''),
    },
    stars: { label: 'Telegram Stars', configured: filled('BOT_TOKEN') },
    cryptobot: { label: 'CryptoBot', configured: filled('CRYPTOBOT_TOKEN') },
  }
  return PROVIDER_IDS.map((id) => ({ id, enabled: settings.flag(ENABLED_KEYS[id]), ...known[id] }))
}

/** A reader of providers' labels, as they are called now. */
export function providerLabels(settings: Settings): (id: ProviderId) => string {
  const labels = new Map(listProviders(settings).map(({ id, label }) => [id, label]))
  return (id) => labels.get(id) ?? id
}
