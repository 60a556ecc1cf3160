/** Credentials of providers A and B: saved together with their switches; those they replace are kept for payments of that shop. */
import * as v from 'valibot'
import { raiseWantedGeneration } from '#db/bot-state.ts'
import type { Query } from '#db/open.ts'
import { listSettings, putSetting, readSetting } from '#db/settings.ts'
import { badRequest } from '#src/lib/errors.ts'
import { addDays, formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import type { Actor } from './audit.ts'
import { awaitBotRestart } from './bot-restart.ts'
import { requireOutboundUrl } from './outbound-url.ts'
import { PRESET_IDS, PRESETS, type PresetId, providerB, requireAccepted } from './providers.ts'
import {
  type LiveValues,
  readSettings,
  readSettingsIn,
  type Settings,
  writeSettings,
} from './settings.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config'>

type ShopProvider = 'provider_a' | 'provider_b'

export interface Credentials {
  shopId: string
  secret: string
  /** Which gateway it is, and its API; only provider B has these. */
  preset?: PresetId | undefined
  apiUrl?: string | undefined
}

/** The row that keeps replaced credentials, as JSON. It takes no value from the environment. */
const PREVIOUS_KEY = 'PREVIOUS_CREDENTIALS'
const KEPT_DAYS = 30

const previousSchema = v.array(
  v.object({
    provider: v.picklist(['provider_a', 'provider_b']),
    until: v.string(),
    shopId: v.string(),
    secret: v.string(),
    preset: v.optional(v.picklist(PRESET_IDS)),
    apiUrl: v.optional(v.string()),
  }),
)

function parsePrevious(text = '[]') {
  try {
    return v.parse(previousSchema, JSON.parse(text))
  } catch {
    return []
  }
}

function currentCredentials(settings: Settings, provider: ShopProvider): Credentials {
  if (provider === 'provider_a') {
    return {
      shopId: settings.text('PROVIDER_A_SHOP_ID'),
      secret: settings.text('PROVIDER_A_SECRET_KEY'),
    }
  }
  const { preset, merchantId, secret, apiUrl } = providerB(settings)
  return { shopId: merchantId, secret, preset, apiUrl }
}

/** What a payment of `shopId` is asked about with: the current credentials, or those replaced within 30 days. */
export function findCredentials(
  s: Deps,
  provider: ShopProvider,
  shopId: string,
): Credentials | undefined {
  const current = currentCredentials(readSettings(s), provider)
  if (current.shopId === shopId) return current.secret === '' ? undefined : current
  const now = formatTimestamp(s.clock.now())
  const row = listSettings(s.db).find(({ key }) => key === PREVIOUS_KEY)
  const kept = parsePrevious(row?.value).find(
    (one) => one.provider === provider && one.shopId === shopId && one.until > now,
  )
  if (!kept) return undefined
  const { secret, preset, apiUrl } = kept
  return { shopId, secret, preset, apiUrl }
}

/** Keeps the credentials that are about to be replaced by those of another shop. */
function* keepPrevious(
  tx: Query,
  current: Credentials,
  provider: ShopProvider,
  shopId: string,
  now: Date,
) {
  const at = formatTimestamp(now)
  const kept = parsePrevious(yield* readSetting(tx, PREVIOUS_KEY)).filter(
    (one) =>
      one.until > at &&
      !(one.provider === provider && [current.shopId, shopId].includes(one.shopId)),
  )
  if (current.secret !== '' && current.shopId !== shopId) {
    kept.push({ provider, until: formatTimestamp(addDays(now, KEPT_DAYS)), ...current })
  }
  yield* putSetting(tx, PREVIOUS_KEY, JSON.stringify(kept))
}

/** Saves credentials, their switch and the master toggle, and restarts the bot. Gives whether the bot followed. */
async function saveCredentials(
  s: Deps,
  actor: Actor,
  provider: ShopProvider,
  shopId: string,
  valuesOf: (before: Credentials) => LiveValues,
): Promise<boolean> {
  const now = s.clock.now()
  const generation = await s.db.tx(function* (tx) {
    const before = currentCredentials(yield* readSettingsIn(tx, s), provider)
    yield* keepPrevious(tx, before, provider, shopId, now)
    const values = { ...valuesOf(before), PAYMENTS_ENABLED: 'true' }
    yield* writeSettings(tx, actor, formatTimestamp(now), values)
    return yield* raiseWantedGeneration(tx)
  })
  return awaitBotRestart(s, generation)
}

/**
 * Asks provider A whether it knows the pair, saves it, switches provider and payments on and restarts the bot: true when it
 * followed. Throws 401 when the provider refuses the pair, 400 when it can't be asked; nothing is saved then.
 */
export async function saveProviderA(
  s: Deps & Pick<Services, 'providerA'>,
  actor: Actor,
  shopId: string,
  secretKey: string,
): Promise<boolean> {
  requireAccepted(await s.providerA.check(shopId, secretKey))
  return saveCredentials(s, actor, 'provider_a', shopId, () => ({
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
  return saveCredentials(s, actor, 'provider_b', merchantId, (before) => {
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
