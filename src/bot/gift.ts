/** Gift codes: what one gives is shown first, and a tap redeems it, so that a preview or a second look spends nothing. */
import { InlineKeyboard } from 'grammy/web'
import type { ListedSubscription } from '#db/subscriptions.ts'
import { isWaiting } from '#src/domain/delayed-start.ts'
import { placeAndPlan } from '#src/domain/labels.ts'
import { messageHtml } from '#src/domain/notify/messages.ts'
import { describeGift, redeemGift } from '#src/domain/subscriptions/gifts.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { withTraffic } from '#src/web/traffic.ts'
import { tapData } from './callback-data.ts'
import { addLinkRow, single } from './keyboards.ts'
import { supportLines } from './menu.ts'
import { type BotRequest, sendQr, show, type Work } from './request.ts'

/** Shorter and longer ones are none; a button has no room for them. */
const CODE = /^[A-Z2-7]{16}$/i

/** The code that a text is, as people send it: alone, or as a link carries it; undefined when it is none. */
export function giftCodeIn(text: string): string | undefined {
  const code = text.trim().replace(/^(?:https?:\/\/\S+\?start=)?gift_/i, '')
  return CODE.test(code) ? code.toUpperCase() : undefined
}

type Refusal = keyof BotRequest['t']['giftRefusal'] | 'banned'

async function showRefusal(v: BotRequest, outcome: Refusal): Promise<void> {
  const { t } = v
  const reason = outcome === 'banned' ? t.banned : t.giftRefusal[outcome]
  const text = [reason, supportLines(v)].join('\n\n').trim()
  await show(v, text, single(v.t.back, 'menu'))
}

/** Shows what a redeemed code gave, as the message about a paid one does; of what is revoked or over, only that there was a gift. */
async function showGiven(v: BotRequest, given: ListedSubscription | null, before: boolean) {
  const { t, s, user, lang } = v
  const now = formatTimestamp(s.clock.now())
  const keyboard = addLinkRow(v, new InlineKeyboard()).text(t.my, tapData('s'))
  const { node_label = '', plan_label = '' } = given ? placeAndPlan(given) : {}
  const html =
    given?.row.active &&
    given.row.disabledAt === null &&
    given.row.expiresAt > now &&
    messageHtml(
      s,
      {
        kind: 'granted',
        payload: {
          node_label,
          plan_label,
          expires_at: given.row.expiresAt,
          ...(isWaiting(given.row, now) && { unstarted: true as const }),
        },
      },
      { token: user.token, lang },
    )
  await show(v, [before && t.giftAgain, html].filter(Boolean).join('\n\n'), keyboard)
}

/** Shows what a code would give, with the button that redeems it. */
export async function showGift(v: BotRequest, text: string): Promise<void> {
  const code = giftCodeIn(text)
  if (code === undefined) return showRefusal(v, 'unknown')
  const gift = await describeGift(v.s, v.user.tgId, code)
  if (gift.outcome === 'again') return showGiven(v, gift.subscription, true)
  if (gift.outcome !== 'offered') return showRefusal(v, gift.outcome)
  const { planLabel, quota } = gift
  const plan = quota ? withTraffic(v.lang, planLabel, quota) : planLabel
  await show(v, v.t.gift(gift.nodeLabel, plan), single(v.t.giftTake, 'gift', code))
}

/** Redeems a code; a second tap shows again what the first one gave. */
export const redeem: Work = async (v, [code = '']) => {
  const redemption = await redeemGift(v.s, v.user.tgId, code)
  if (redemption.outcome === 'again') return showGiven(v, redemption.subscription, true)
  if (redemption.outcome !== 'redeemed') return showRefusal(v, redemption.outcome)
  await showGiven(v, redemption.subscription, false)
  await sendQr(v)
}
