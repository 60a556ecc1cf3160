/** One update of one user while it is answered: who the user is, what the service looks like, and the ways to answer. */
import { type Context, GrammyError, type InlineKeyboard, InputFile } from 'grammy/web'
import type { User } from '#db/schema/index.ts'
import { readUser } from '#db/users.ts'
import { meetUser } from '#src/domain/customers/contacts.ts'
import { type Catalogue, createCatalogue } from '#src/domain/lists/catalogue.ts'
import { type Lang, messageLang } from '#src/domain/notify/messages.ts'
import type { NewPayment } from '#src/domain/payments/create.ts'
import { ApiError } from '#src/lib/errors.ts'
import { qrPng } from '#src/lib/png.ts'
import { createSingleFlight, type SingleFlight } from '#src/lib/single-flight.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { HOUR_MS, SECOND_MS } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { type Texts, textsOf } from './texts.ts'

/** What a bot keeps between updates. Losing it costs nobody anything. */
export interface BotMemory {
  s: Services
  catalogue: () => Catalogue
  /** Payments that are being made, by what they are for: two taps at once share one. */
  making: SingleFlight<NewPayment>
  /** When users last had a payment checked, on the monotonic clock, oldest first. */
  checkedAtMs: Map<number, number>
}

export function createBotMemory(s: Services): BotMemory {
  const catalogue = createCatalogue(s)
  return {
    s,
    catalogue: () => catalogue(s.db.revision()),
    making: createSingleFlight(),
    checkedAtMs: new Map(),
  }
}

/** Somebody who writes, and who need not be a user. */
export interface Visit {
  s: Services
  memory: BotMemory
  ctx: Context
  /** Who writes, which is not always the number of the user. */
  telegramId: number
  lang: Lang
  t: Texts
  /** Whether the tap has its answer: Telegram takes one. */
  answered: boolean
}

export interface BotRequest extends Visit {
  user: User
}

export type Work = (v: BotRequest, args: string[]) => Promise<void>

/** The language of somebody who may not be known yet. */
export const langOf = (s: Services, tag: string | null | undefined): Lang =>
  messageLang(tag, s.config.defaultLang)

/** Who sent an update of a private chat; null: nobody, another bot, or not who would read the answer. */
const senderOf = ({ from, chat }: Context) =>
  from && !from.is_bot && chat?.id === from.id ? from : null

/** Begins the answer to an update of a private chat; null where nobody is to be answered. */
export async function beginRequest(memory: BotMemory, ctx: Context): Promise<BotRequest | null> {
  const { s } = memory
  const from = senderOf(ctx)
  if (!from) return null
  const contact = {
    tgId: from.id,
    username: from.username ?? null,
    lang: langOf(s, from.language_code),
  }
  const user = await meetUser(s, contact)
  const lang = langOf(s, user.lang)
  return { s, memory, ctx, user, telegramId: from.id, lang, t: textsOf(lang), answered: false }
}

/** Begins the answer to an update of somebody whom it does not make a user; null as above. */
export async function beginVisit(memory: BotMemory, ctx: Context): Promise<Visit | null> {
  const { s } = memory
  const from = senderOf(ctx)
  if (!from) return null
  const known = await s.db.read((q) => readUser(q, from.id))
  const lang = langOf(s, known?.lang ?? from.language_code)
  return { s, memory, ctx, telegramId: from.id, lang, t: textsOf(lang), answered: false }
}

/** The same request in another language. */
export const inLang = (v: BotRequest, lang: Lang): BotRequest =>
  Object.assign(v, { lang, t: textsOf(lang) })

export const refusedAs = (error: unknown, code: number, words = ''): boolean =>
  error instanceof GrammyError && error.error_code === code && error.description.includes(words)

/** What a message looks like: its links are not previewed. */
const messageOptions = (keyboard: InlineKeyboard | undefined) => ({
  parse_mode: 'HTML' as const,
  link_preview_options: { is_disabled: true },
  ...(keyboard ? { reply_markup: keyboard } : {}),
})

/** Sends a new message. */
export async function send({ ctx }: Visit, html: string, keyboard?: InlineKeyboard): Promise<void> {
  await ctx.reply(html, messageOptions(keyboard))
}

/** Puts a text in place of the message whose button was tapped, where that is a text; else sends it. */
export async function show(v: Visit, html: string, keyboard?: InlineKeyboard): Promise<void> {
  const tapped = v.ctx.callbackQuery?.message
  if (!tapped || !('text' in tapped)) return send(v, html, keyboard)
  try {
    await v.ctx.editMessageText(html, messageOptions(keyboard))
  } catch (error) {
    // A second tap: it says already what it is to say.
    if (refusedAs(error, 400, 'message is not modified')) return
    // Too old to be changed, or deleted.
    if (!refusedAs(error, 400)) throw error
    await send(v, html, keyboard)
  }
}

/** Answers a tap, with a notice where there is one; false when Telegram waits for the answer no longer. */
export async function answerTap(ctx: Context, text?: string): Promise<boolean> {
  try {
    await ctx.answerCallbackQuery(text === undefined ? {} : { text, show_alert: true })
    return true
  } catch (error) {
    if (refusedAs(error, 400)) return false
    throw error
  }
}

/** Says something in plain text, at most 200 characters: as a notice over the chat where a button was tapped, else as a message. */
export async function say(v: Visit, text: string): Promise<void> {
  if (v.ctx.callbackQuery && !v.answered) {
    v.answered = true
    if (await answerTap(v.ctx, text)) return
  }
  await v.ctx.reply(text)
}

/** How many hours a limit (429) asks to wait, at least 1. Throws what is no word of a limit. */
export function hoursToWait(error: unknown): number {
  if (!(error instanceof ApiError) || error.status !== 429) throw error
  const waitMs = Number(error.headers['Retry-After'] ?? 0) * SECOND_MS
  return Math.max(1, Math.ceil(waitMs / HOUR_MS))
}

/** Ends the answer: no tap is left waiting. */
export async function endVisit(v: Visit): Promise<void> {
  if (!v.ctx.callbackQuery || v.answered) return
  v.answered = true
  await answerTap(v.ctx)
}

export const linkOf = ({ s, user }: BotRequest): string => subLink(s.config, user.token)

/** Sends the link as a picture. */
export async function sendQr(v: BotRequest): Promise<void> {
  const photo = new InputFile(qrPng(linkOf(v)), 'qr.png')
  await v.ctx.replyWithPhoto(photo, { caption: v.t.qrCaption })
}
