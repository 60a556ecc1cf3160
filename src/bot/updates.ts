/** What is believed of an update: whom it is from and what of it becomes rows is as Telegram makes them, and as rows may have it. */
import type { Context } from 'grammy/web'
import * as v from 'valibot'
import * as is from '#db/values.ts'
import { integer, plainText } from '#src/lib/values.ts'

type Update = Context['update']

/** https://core.telegram.org/bots/api#user */
const sender = v.object({
  id: is.telegramId,
  is_bot: v.boolean(),
  first_name: v.optional(v.string()),
  username: v.optional(is.username),
  language_code: v.optional(v.string()),
})

/** https://core.telegram.org/bots/api#chat: groups are below 0. */
const chat = v.object({
  id: integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  type: v.string(),
})

/** https://core.telegram.org/bots/api#precheckoutquery: 1 to 128 bytes are a bill's own. */
const bill = {
  currency: is.currency,
  total_amount: is.count,
  invoice_payload: plainText(128),
}

/** https://core.telegram.org/bots/api#successfulpayment, and the same of refundedpayment. */
const charge = v.object({
  ...bill,
  telegram_payment_charge_id: v.pipe(is.externalId, v.minLength(1)),
})

const known = v.object({
  message: v.optional(
    v.object({
      chat,
      from: v.optional(sender),
      successful_payment: v.optional(charge),
      refunded_payment: v.optional(charge),
    }),
  ),
  callback_query: v.optional(
    v.object({
      from: sender,
      message: v.optional(v.object({ chat })),
      data: v.optional(v.string()),
    }),
  ),
  pre_checkout_query: v.optional(v.object({ id: v.string(), from: sender, ...bill })),
  my_chat_member: v.optional(v.object({ chat, from: sender })),
})

/** Where an update is not as Telegram makes them, as a path into it; null for a sound one. */
export function faultOf(update: Update): string | null {
  const { issues } = v.safeParse(known, update, { abortEarly: true })
  return issues ? (v.getDotPath(issues[0]) ?? 'update') : null
}
