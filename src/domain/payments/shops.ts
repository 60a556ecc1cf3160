/** Which shop a payment belongs to, and the credentials that its provider is asked with: replaced ones are kept for 30 days. */
import type { Query } from '#db/engine/database.ts'
import { addFormerCredentials, listFormerCredentials } from '#db/former-credentials.ts'
import type { Payment } from '#db/schema/index.ts'
import { readSettings, readSettingsIn, type Settings } from '#src/domain/settings.ts'
import { DAY_MS, formatTimestamp, timestampBefore } from '#src/lib/time.ts'
import type { ShopCredentials } from '#src/ports/payment-gateway.ts'
import type { Services } from '#src/services.ts'
import { findGateway } from './providers.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config'>

/** Of one that is changed again and again. */
const MOST_KEPT = 100

/** What was replaced later than this still counts. */
const keptSince = (now: Date): string => timestampBefore(now, 30 * DAY_MS)

/** What new payments of a provider are made with; empty where nothing is set. */
export const currentCredentials = (settings: Settings, provider: string): ShopCredentials =>
  findGateway(settings, provider)?.shop(settings.ofGateway) ?? { shopId: '', secret: '' }

/** Whether two are the same shop at the same gateway; its secret may have been changed. */
const isSameShop = (one: ShopCredentials, other: ShopCredentials) =>
  one.shopId === other.shopId && one.preset === other.preset && one.apiUrl === other.apiUrl

/** Whether two open the same account by the same key. */
export const isSameAccess = (one: ShopCredentials, other: ShopCredentials) =>
  isSameShop(one, other) && one.secret === other.secret

type Previous = ShopCredentials & { replacedAt: string }

/** Those of a provider that were replaced within 30 days, oldest first. */
async function listPrevious(s: Deps, provider: string): Promise<Previous[]> {
  const since = keptSince(s.clock.now())
  const rows = await s.db.read((q) => listFormerCredentials(q, provider, since))
  return rows.map(({ shopId, secret, preset, apiUrl, replacedAt }) => ({
    shopId,
    secret,
    preset: preset ?? undefined,
    apiUrl: apiUrl ?? undefined,
    replacedAt,
  }))
}

const toCredentials = ({ shopId, secret, preset, apiUrl }: ShopCredentials): ShopCredentials => ({
  shopId,
  secret,
  preset,
  apiUrl,
})

/** The present shop of a provider, null where none is set, and those replaced within 30 days, each once. */
export async function listShops(
  s: Deps,
  provider: string,
): Promise<{ current: ShopCredentials | null; former: ShopCredentials[] }> {
  const current = currentCredentials(readSettings(s), provider)
  const previous = (await listPrevious(s, provider)).reverse()
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
export async function findShop(
  s: Deps,
  payment: Pick<Payment, 'provider' | 'shopId'> & Partial<Pick<Payment, 'createdAt'>>,
): Promise<ShopCredentials | undefined> {
  const { provider, createdAt } = payment
  // First: what is replaced meanwhile is then among the former ones too.
  const current = currentCredentials(readSettings(s), provider)
  const shopId = payment.shopId ?? current.shopId
  const previous = (await listPrevious(s, provider)).filter((one) => one.shopId === shopId)
  const known: ShopCredentials[] =
    current.shopId === shopId && current.secret !== '' ? [...previous, current] : previous
  const then =
    createdAt === undefined ? undefined : previous.find(({ replacedAt }) => replacedAt > createdAt)
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
  if (replaced.secret === '' || isSameShop(replaced, next)) return
  const { shopId, secret, preset, apiUrl } = replaced
  const values = { provider, shopId, secret, preset, apiUrl, replacedAt: formatTimestamp(now) }
  yield* addFormerCredentials(tx, values, { since: keptSince(now), most: MOST_KEPT })
}

/** The shop to which new payments of a provider go, as the payment's row keeps it. */
export const currentShopId = (settings: Settings, provider: string): string =>
  currentCredentials(settings, provider).shopId

/** Whether payments of this shop are tests, by its secret (yookassa.ru/developers/payment-acceptance/testing-and-going-live/testing). */
export const isTestShop = (shop: ShopCredentials | undefined): boolean =>
  shop?.secret.startsWith('test_') ?? false
