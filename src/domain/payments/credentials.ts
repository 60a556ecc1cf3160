/** Credentials of the providers, saved together with their switches. */
import { raiseWantedGeneration } from '#db/bot-state.ts'
import type { Query } from '#db/database.ts'
import type { Actor } from '#src/domain/audit.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import { awaitBotRestart } from '#src/domain/notify/bot-restart.ts'
import { requireOutboundUrl } from '#src/domain/outbound-url.ts'
import {
  type LiveValues,
  readSettingsIn,
  type Settings,
  writeSettings,
} from '#src/domain/settings.ts'
import { badRequest, unauthorized } from '#src/lib/errors.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { ShopCredentials } from '#src/ports/payment-gateway.ts'
import type { Services } from '#src/services.ts'
import {
  ENABLED_KEYS,
  PRESETS,
  type PresetId,
  type ProviderId,
  providerLabels,
} from './providers.ts'
import {
  accountOf,
  type Credentials,
  currentCredentials,
  isSameAccess,
  keepPrevious,
} from './shops.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config'>

/** Throws 400 or 401 unless the provider, where it can be asked, takes the credentials. */
async function requireAccepted(
  s: Pick<Services, 'gateways' | 'log'>,
  provider: ProviderId,
  shop: ShopCredentials,
): Promise<void> {
  const check = await s.gateways[provider].verify?.(shop)
  if (check?.outcome === 'rejected') throw unauthorized('provider credentials rejected')
  if (check?.outcome !== 'unreachable') return
  s.log.warn('a provider gave no usable answer', { provider, reason: check.reason })
  throw badRequest('no connection to the provider')
}

/** Writes a provider's settings, keeps what they replace, and alerts where payments go by other credentials from now on. */
function* replaceCredentials(
  tx: Query,
  s: Deps,
  change: { actor: Actor; provider: ProviderId; before: Settings; values: LiveValues; now: Date },
) {
  const { actor, provider, before, values, now } = change
  const at = formatTimestamp(now)
  yield* writeSettings(tx, actor, at, values)
  yield* keepPrevious(tx, s, provider, before, now)
  const after = yield* readSettingsIn(tx, s)
  if (isSameAccess(currentCredentials(before, provider), currentCredentials(after, provider)))
    return
  const gateway = providerLabels(after)(provider)
  yield* alert(tx, s, at, { about: 'gateway-changed', gateway, ...actor })
}

/** Saves credentials, their switch and the master toggle, and restarts the bot. Gives whether the bot followed. */
async function saveCredentials(
  s: Deps,
  actor: Actor,
  provider: ProviderId,
  valuesOf: (before: Credentials) => LiveValues,
): Promise<boolean> {
  const now = s.clock.now()
  const generation = await s.db.tx(function* (tx) {
    const before = yield* readSettingsIn(tx, s)
    const values = { ...valuesOf(currentCredentials(before, provider)), PAYMENTS_ENABLED: 'true' }
    yield* replaceCredentials(tx, s, { actor, provider, before, values, now })
    return yield* raiseWantedGeneration(tx)
  })
  return awaitBotRestart(s, generation)
}

/**
 * Asks provider A whether it knows the pair, saves it, switches provider and payments on and restarts the bot: true when it
 * followed. Throws 401 when the provider refuses the pair, 400 when it can't be asked; nothing is saved then.
 */
export async function saveProviderA(
  s: Deps & Pick<Services, 'gateways' | 'log'>,
  actor: Actor,
  shopId: string,
  secretKey: string,
): Promise<boolean> {
  await requireAccepted(s, 'provider_a', { shopId, secret: secretKey })
  return saveCredentials(s, actor, 'provider_a', () => ({
    PROVIDER_A_SHOP_ID: shopId,
    PROVIDER_A_SECRET_KEY: secretKey,
    PROVIDER_A_ENABLED: 'true',
  }))
}

export interface ProviderBChanges {
  merchantId: string
  secret: string
  preset?: PresetId | undefined
  /** Empty: the preset's own. */
  apiUrl?: string | undefined
}

/** Where the API is after a change of preset and address: the row, and what counts then. */
function nextApiUrl(s: Deps, before: Credentials, preset: PresetId, apiUrl: string | undefined) {
  if (apiUrl) return { row: { PROVIDER_B_API_URL: apiUrl }, counts: apiUrl }
  if (apiUrl === undefined && preset === before.preset) return { row: {}, counts: before.apiUrl }
  // The old address is another gateway's: the secret must not go there.
  const counts = s.config.live.PROVIDER_B_API_URL ?? PRESETS[preset].apiUrl
  return { row: { PROVIDER_B_API_URL: null }, counts }
}

/**
 * Saves provider B's credentials unasked, switches provider and payments on and restarts the bot: true when it followed. Throws
 * 400 for an address that is not https, or none where the preset needs one.
 */
export async function saveProviderB(
  s: Deps,
  actor: Actor,
  { merchantId, secret, preset: wanted, apiUrl }: ProviderBChanges,
): Promise<boolean> {
  if (apiUrl) requireOutboundUrl(s, 'api_url', apiUrl, ['https'])
  return saveCredentials(s, actor, 'provider_b', (before) => {
    const preset = wanted ?? before.preset ?? 'platega'
    const { row, counts } = nextApiUrl(s, before, preset, apiUrl)
    if (!counts) throw badRequest('api_url is missing: this preset has none of its own')
    return {
      PROVIDER_B_MERCHANT_ID: merchantId,
      PROVIDER_B_SECRET: secret,
      PROVIDER_B_PRESET: preset,
      PROVIDER_B_ENABLED: 'true',
      ...row,
    }
  })
}

/** Switches a provider on or off, and saves the token of CryptoBot after asking whether it is one. Throws 400 or 401 then. */
export async function saveProvider(
  s: Deps & Pick<Services, 'gateways' | 'log'>,
  actor: Actor,
  id: ProviderId,
  changes: { enabled?: boolean; token?: string },
): Promise<void> {
  const { enabled, token } = changes
  if (token !== undefined) await requireAccepted(s, id, { shopId: accountOf(token), secret: token })
  const now = s.clock.now()
  const values: LiveValues = {
    ...(token === undefined ? {} : { CRYPTOBOT_TOKEN: token }),
    ...(enabled === undefined ? {} : { [ENABLED_KEYS[id]]: String(enabled) }),
  }
  await s.db.tx(function* (tx) {
    const before = yield* readSettingsIn(tx, s)
    yield* replaceCredentials(tx, s, { actor, provider: id, before, values, now })
  })
}
