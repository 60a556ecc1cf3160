/** Gift codes: an admin creates and revokes them, a user of the bot redeems one, once. */

import type { Reading } from '#db/engine/database.ts'
import { insertGifts, readGift, revokeGift, useGift } from '#db/gifts.ts'
import { readNode } from '#db/nodes.ts'
import { readPlan } from '#db/plans.ts'
import { type ListedSubscription, readGiftSubscription } from '#db/subscriptions.ts'
import { type Actor, audit, BOT_ACTOR } from '#src/domain/audit.ts'
import { ensureCustomer } from '#src/domain/customers/users.ts'
import { momentOf, type SoldQuota, soldQuotaOf } from '#src/domain/quotas.ts'
import { readSettings } from '#src/domain/settings.ts'
import { botLink } from '#src/lib/bot-link.ts'
import { randomBase32 } from '#src/lib/random.ts'
import { addDays, formatTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { settledHome } from './homes.ts'
import { type GrantOrder, giveSubscription, type Offer, readOffer } from './subscriptions.ts'

type Deps = Pick<Services, 'db' | 'clock'>

/** 80 bits. */
const CODE_CHARACTERS = 16

/** What the audit log shows of a code: whoever knows the whole of it can redeem it. */
const masked = (code: string) => `${code.slice(0, 4)}…`

/** A writer of the links by which codes are redeemed, with the bot's name as it is now; null while no bot is set. */
export function giftLinks(s: Pick<Services, 'db' | 'config'>): (code: string) => string | null {
  const username = readSettings(s).text('BOT_USERNAME')
  return (code) => botLink(s.config.botLinkBase, username, `gift_${code}`)
}

/** Creates gift codes for a plan on a node. Throws 400 when node or plan is unknown or the plan is archived. */
export async function createGifts(
  s: Deps,
  actor: Actor,
  gift: GrantOrder & { count: number; expiresInDays: number | null },
): Promise<string[]> {
  const { plan, count, expiresInDays } = gift
  const at = s.clock.now()
  const createdAt = formatTimestamp(at)
  const expiresAt = expiresInDays === null ? null : formatTimestamp(addDays(at, expiresInDays))
  const codes = Array.from({ length: count }, () => randomBase32(CODE_CHARACTERS))
  await s.db.tx(function* (tx) {
    const { node: home, nodeGroup, quota, start } = yield* readOffer(tx, gift, at)
    const node = home.code
    const begins = { startSeconds: start?.seconds ?? null, startBy: start?.by ?? null }
    const sold = { ...quota, ...begins }
    yield* insertGifts(tx, { codes, node, plan, nodeGroup, ...sold, createdAt, expiresAt })
    yield* audit(tx, actor, createdAt, {
      action: 'gift.create',
      object: count === 1 ? masked(codes[0] as string) : '',
      detail: `node=${node} plan=${plan} count=${count}`,
    })
  })
  return codes
}

/** Makes a code worthless; a revoked one stays as it is. Throws 404, or 400 when it was redeemed. */
export async function revokeGiftCode(s: Deps, actor: Actor, code: string): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const gift = yield* readGift(tx, code)
    if (!gift) throw refusal('gift-code-not-found')
    if (gift.usedAt !== null) throw refusal('gift-code-used')
    if (!(yield* revokeGift(tx, code, now))) return
    yield* audit(tx, actor, now, { action: 'gift.revoke', object: masked(code) })
  })
}

/** Why a code gives nothing; `gone`: its node or plan is. */
export type GiftRefusal = 'unknown' | 'used' | 'revoked' | 'expired' | 'gone' | 'banned'

/** What a code gives at a time, or why it gives nothing. */
function* readGiftOffer(tx: Reading, code: string, now: string) {
  const gift = yield* readGift(tx, code)
  if (!gift) return 'unknown'
  if (gift.usedAt !== null) return 'used'
  if (gift.revokedAt !== null) return 'revoked'
  if (gift.expiresAt !== null && gift.expiresAt <= now) return 'expired'
  const node = yield* readNode(tx, gift.node)
  const plan = yield* readPlan(tx, gift.plan)
  if (!node || !plan) return 'gone'
  const { nodeGroup, startSeconds: seconds, startBy: by } = gift
  const start = seconds === null ? null : { seconds, by }
  return { node, plan, nodeGroup, days: plan.days, quota: soldQuotaOf(gift), start } as Offer
}

/** A code as people type it. */
const codeOf = (text: string) => text.trim().toUpperCase()

export type GiftOffer = {
  outcome: 'offered'
  nodeLabel: string
  planLabel: string
  /** Where it has a limit of traffic. */
  quota?: SoldQuota
}

/** This user redeemed the code before; what it gave, unless that is gone. */
type RedeemedBefore = { outcome: 'again'; subscription: ListedSubscription | null }

function* readRedeemedBefore(tx: Reading, tgId: number, code: string) {
  const gift = yield* readGift(tx, code)
  if (gift?.usedBy !== tgId) return null
  const subscription = (yield* readGiftSubscription(tx, tgId, code)) ?? null
  return { outcome: 'again', subscription } as RedeemedBefore
}

/** What a code would give a user, before they confirm that they want it. */
export async function describeGift(
  s: Deps,
  tgId: number,
  text: string,
): Promise<GiftOffer | RedeemedBefore | { outcome: GiftRefusal }> {
  const now = formatTimestamp(s.clock.now())
  const code = codeOf(text)
  return s.db.read(function* (tx) {
    const before = yield* readRedeemedBefore(tx, tgId, code)
    if (before) return before
    const offer = yield* readGiftOffer(tx, code, now)
    if (typeof offer === 'string') return { outcome: offer }
    const { node, plan, nodeGroup, quota } = offer
    const { home, group } = yield* settledHome(tx, node, nodeGroup)
    return {
      outcome: 'offered',
      nodeLabel: group?.label ?? home.label,
      planLabel: plan.label,
      ...(quota.quotaBytes !== null && { quota }),
    }
  })
}

export type Redemption =
  | { outcome: 'redeemed'; subscription: ListedSubscription }
  | RedeemedBefore
  | { outcome: GiftRefusal }

/**
 * Redeems a code for a user, whom it creates if missing: once, whoever tries it how often at the same time. Plan and node of a code
 * count as long as they exist, archived or disabled too.
 */
export async function redeemGift(
  s: Deps & Pick<Services, 'background' | 'config' | 'nodeSync'>,
  tgId: number,
  text: string,
): Promise<Redemption> {
  const moment = momentOf(s)
  const now = formatTimestamp(moment.at)
  const code = codeOf(text)
  const redemption = await s.db.tx(function* (tx): Generator<unknown, Redemption, unknown> {
    const before = yield* readRedeemedBefore(tx, tgId, code)
    if (before) return before
    const offer = yield* readGiftOffer(tx, code, now)
    if (typeof offer === 'string') return { outcome: offer }
    const user = yield* ensureCustomer(tx, tgId, now)
    if (user.bannedAt !== null) return { outcome: 'banned' }
    if (!(yield* useGift(tx, code, tgId, now))) return { outcome: 'used' }
    const subscription = yield* giveSubscription(tx, moment, user, offer, {
      source: 'gift',
      giftCode: code,
    })
    yield* audit(tx, BOT_ACTOR, now, {
      action: 'gift.redeem',
      object: masked(code),
      detail: `tg_id=${tgId} subscription=${subscription.row.uuid}`,
    })
    return { outcome: 'redeemed', subscription }
  })
  if (redemption.outcome === 'redeemed') {
    const { row } = redemption.subscription
    s.background.run('add client', () => s.nodeSync.touch([row]))
  }
  return redemption
}
