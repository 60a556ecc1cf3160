/** Traffic packs as they are sold: to owners of subscriptions that have a quota. */
import type { Subscription, TrafficPack } from '#db/schema/index.ts'

/** Those of them that are sold, for money or for Stars. */
export const soldPacks = (packs: Iterable<TrafficPack>): TrafficPack[] =>
  [...packs].filter(
    ({ archived, price, priceStars }) => !archived && (price > 0 || (priceStars ?? 0) > 0),
  )

/** Whether a subscription that is not revoked may have more traffic: it has a quota, is not off, and has not ended. */
export const takesTraffic = (
  { quotaBytes }: Pick<Subscription, 'quotaBytes'>,
  state: string,
): boolean => quotaBytes !== null && state !== 'expired' && state !== 'disabled'

/** How long the id is by which its owner knows a subscription (`ownIdOf`). */
const OWN_ID = 22

/** What a link into the bot carries that opens the sale of a pack, by its code, for a subscription, by its owner's id: at most 60 characters. */
export const packLink = (id: string, code: string): string => `pack_${id}_${code}`

/** The subscription and the pack of such a link, as they follow its `pack_`. */
export const packOfLink = (rest: string): { id: string; code: string } => ({
  id: rest.slice(0, OWN_ID),
  code: rest.slice(OWN_ID + 1),
})
