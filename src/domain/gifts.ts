/** Gift codes as an admin manages them: create, revoke. */
import { insertGifts, readGift, revokeGift } from '#db/gifts.ts'
import { botLink } from '#src/lib/bot-link.ts'
import { badRequest, notFound } from '#src/lib/errors.ts'
import { randomBase32 } from '#src/lib/random.ts'
import { addDays, formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { type Actor, audit } from './audit.ts'
import { readSettings } from './settings.ts'
import { readOffer } from './subscriptions.ts'

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
  gift: { node: string; plan: string; count: number; expiresInDays: number | null },
): Promise<string[]> {
  const { node, plan, count, expiresInDays } = gift
  const at = s.clock.now()
  const createdAt = formatTimestamp(at)
  const expiresAt = expiresInDays === null ? null : formatTimestamp(addDays(at, expiresInDays))
  const codes = Array.from({ length: count }, () => randomBase32(CODE_CHARACTERS))
  await s.db.tx(function* (tx) {
    yield* readOffer(tx, gift)
    yield* insertGifts(
      tx,
      codes.map((code) => ({ code, node, plan, createdAt, expiresAt })),
    )
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
    if (!gift) throw notFound('gift code not found')
    if (gift.usedAt !== null) throw badRequest('gift code is used')
    if (!(yield* revokeGift(tx, code, now))) return
    yield* audit(tx, actor, now, { action: 'gift.revoke', object: masked(code) })
  })
}
