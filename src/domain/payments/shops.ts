/** Which shop a payment belongs to, and the credentials that its provider is asked with: replaced ones are kept for 30 days. */
import * as v from 'valibot'
import type { Query } from '#db/engine/database.ts'
import { PREVIOUS_CREDENTIALS } from '#db/own-settings.ts'
import type { Payment } from '#db/schema/index.ts'
import { listSettings, putSetting, readSetting } from '#db/settings.ts'
import { readSettings, readSettingsIn, type Settings } from '#src/domain/settings.ts'
import { addDays, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import type { ShopCredentials } from '#src/ports/payment-gateway.ts'
import type { Services } from '#src/services.ts'
import { KEPT_DAYS, previousCredentials } from './previous-credentials.ts'
import { findGateway } from './providers.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config'>

/** Of one that is changed again and again. */
const MOST_KEPT = 100

type Previous = v.InferOutput<typeof previousCredentials>[number]

function parsePrevious(text = '[]'): Previous[] {
  try {
    return v.parse(previousCredentials, JSON.parse(text))
  } catch {
    return []
  }
}

/** What new payments of a provider are made with; empty where nothing is set. */
export const currentCredentials = (settings: Settings, provider: string): ShopCredentials =>
  findGateway(settings, provider)?.shop(settings.ofGateway) ?? { shopId: '', secret: '' }

/** Whether two are the same shop at the same gateway; its secret may have been changed. */
const isSameShop = (one: ShopCredentials, other: ShopCredentials) =>
  one.shopId === other.shopId && one.preset === other.preset && one.apiUrl === other.apiUrl

/** Whether two open the same account by the same key. */
export const isSameAccess = (one: ShopCredentials, other: ShopCredentials) =>
  isSameShop(one, other) && one.secret === other.secret

/** Those of a provider that were replaced within 30 days, oldest first. */
function listPrevious(s: Deps, provider: string): Previous[] {
  const now = formatTimestamp(s.clock.now())
  const row = listSettings(s.db).find(({ key }) => key === PREVIOUS_CREDENTIALS)
  return parsePrevious(row?.value).filter((one) => one.provider === provider && one.until > now)
}

const toCredentials = ({ shopId, secret, preset, apiUrl }: ShopCredentials): ShopCredentials => ({
  shopId,
  secret,
  preset,
  apiUrl,
})

/** The present shop of a provider, null where none is set, and those replaced within 30 days, each once. */
export function listShops(
  s: Deps,
  provider: string,
): { current: ShopCredentials | null; former: ShopCredentials[] } {
  const current = currentCredentials(readSettings(s), provider)
  const previous = listPrevious(s, provider).reverse()
  const former = previous.filter(
    (one, i) =>
      !isSameShop(one, current) && previous.findIndex((other) => isSameShop(other, one)) === i,
  )
  return { current: current.secret === '' ? null : current, former: former.map(toCredentials) }
}

/**
 * What a payment is asked about with: the current credentials of its shop, or those replaced within 30 days; undefined when nobody
 * has them. Where a shop id was taken to another gateway or address, those that counted when the payment was made.
 */
export function findShop(
  s: Deps,
  payment: Pick<Payment, 'provider' | 'shopId'> & Partial<Pick<Payment, 'createdAt'>>,
): ShopCredentials | undefined {
  const { provider, createdAt } = payment
  const current = currentCredentials(readSettings(s), provider)
  const shopId = payment.shopId ?? current.shopId
  const previous = listPrevious(s, provider).filter((one) => one.shopId === shopId)
  const known: ShopCredentials[] =
    current.shopId === shopId && current.secret !== '' ? [...previous, current] : previous
  const keptUntil =
    createdAt === undefined ? null : formatTimestamp(addDays(parseTimestamp(createdAt), KEPT_DAYS))
  const then = keptUntil === null ? undefined : previous.find(({ until }) => until > keptUntil)
  const shop = then ?? known.at(-1)
  const newest = shop && known.findLast((one) => isSameShop(one, shop))
  return newest && toCredentials(newest)
}

/** Keeps the credentials that are replaced in this transaction by those of another shop. `before`: the settings before it. */
export function* keepPrevious(
  tx: Query,
  s: Pick<Deps, 'config'>,
  provider: string,
  before: Settings,
  now: Date,
) {
  const replaced = currentCredentials(before, provider)
  const next = currentCredentials(yield* readSettingsIn(tx, s), provider)
  const at = formatTimestamp(now)
  if (replaced.secret === '' || isSameShop(replaced, next)) return
  const kept = parsePrevious(yield* readSetting(tx, PREVIOUS_CREDENTIALS)).filter(
    ({ until }) => until > at,
  )
  kept.push({ provider, until: formatTimestamp(addDays(now, KEPT_DAYS)), ...replaced })
  yield* putSetting(tx, PREVIOUS_CREDENTIALS, JSON.stringify(kept.slice(-MOST_KEPT)))
}

/** The shop to which new payments of a provider go, as the payment's row keeps it. */
export const currentShopId = (settings: Settings, provider: string): string =>
  currentCredentials(settings, provider).shopId

/** Whether payments of this shop are tests, by its secret (yookassa.ru/developers/payment-acceptance/testing-and-going-live/testing). */
export const isTestShop = (shop: ShopCredentials | undefined): boolean =>
  shop?.secret.startsWith('test_') ?? false
