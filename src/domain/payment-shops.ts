/** Which shop a payment belongs to, and what its provider is asked with. */
import type { Payment } from '#db/schema.ts'
import type { Services, ShopCredentials } from '#src/services.ts'
import { findCredentials } from './provider-credentials.ts'
import type { ProviderId } from './providers.ts'
import type { Settings } from './settings.ts'
import { readSettings } from './settings.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config'>

const TOKENS = { stars: 'BOT_TOKEN', cryptobot: 'CRYPTOBOT_TOKEN' } as const

/** The public part of a token of Telegram or Crypto Pay: whose it is. */
const accountOf = (token: string) => token.split(':')[0] ?? ''

/** The shop to which new payments of a provider go, as the payment's row keeps it. */
export function currentShopId(settings: Settings, provider: ProviderId): string {
  if (provider === 'provider_a') return settings.text('PROVIDER_A_SHOP_ID')
  if (provider === 'provider_b') return settings.text('PROVIDER_B_MERCHANT_ID')
  return accountOf(settings.text(TOKENS[provider]))
}

/** What the provider of a payment is asked with; undefined when nobody has the credentials of its shop any more. */
export function findShop(
  s: Deps,
  { provider, shopId }: Pick<Payment, 'provider' | 'shopId'>,
): ShopCredentials | undefined {
  if (provider === 'provider_a' || provider === 'provider_b') {
    return findCredentials(s, provider, shopId ?? currentShopId(readSettings(s), provider))
  }
  const secret = readSettings(s).text(TOKENS[provider])
  if (secret === '' || (shopId !== null && accountOf(secret) !== shopId)) return undefined
  return { shopId: '', secret }
}

/** Whether payments of this shop are tests, by its secret (yookassa.ru/developers/payment-acceptance/testing-and-going-live/testing). */
export const isTestShop = (shop: ShopCredentials | undefined): boolean =>
  shop?.secret.startsWith('test_') ?? false
