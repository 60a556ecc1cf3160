/**
 * What the bot answers to what. Nothing is kept of a conversation: every button says by itself what it is for (callback-data.ts), so
 * that taps mean the same after a restart, in a bot that another process took over, and twice.
 */
import { type Bot, type Context, HttpError, type Transformer } from 'grammy/web'
import { noteBlocked } from '#src/domain/customers/contacts.ts'
import { plainOfHtml } from '#src/lib/html.ts'
import type { Services } from '#src/services.ts'
import { buy, openShop, renew } from './buy.ts'
import { qr, resetLink, subscriptions } from './cabinet.ts'
import { parseTap, type TapKind } from './callback-data.ts'
import { plan, server } from './change.ts'
import { connectAccount, connectCodeIn } from './connect.ts'
import { devices } from './devices.ts'
import { giftCodeIn, redeem, showGift } from './gift.ts'
import { chooseLanguage, help } from './help.ts'
import { showMenu, showStale, supportLines } from './menu.ts'
import { topUp } from './packs.ts'
import { check } from './pay.ts'
import {
  answerTap,
  type BotMemory,
  type BotRequest,
  beginRequest,
  beginVisit,
  createBotMemory,
  endVisit,
  langOf,
  refusedAs,
  say,
  send,
  type Visit,
  type Work,
} from './request.ts'
import { answerPreCheckout, noteRefund, takeStars } from './stars.ts'
import { start } from './start.ts'
import { BOT_LANGS, textsOf } from './texts.ts'

const TAPS: Record<Exclude<TapKind, 'link'>, Work> = {
  menu: (v) => showMenu(v),
  buy: openShop,
  b: buy,
  r: renew,
  t: topUp,
  n: server,
  p: plan,
  paid: check,
  s: subscriptions,
  qr,
  dev: devices,
  reset: resetLink,
  gift: redeem,
  help,
  lang: chooseLanguage,
}

const helpAlone: Work = (v) => help(v, [])

/** Commands; those of `LISTED` are in Telegram's menu, the others are asked of every bot that takes Stars. */
const COMMANDS: Record<string, Work> = {
  start,
  buy: openShop,
  my: (v) => subscriptions(v, []),
  help: helpAlone,
  support: helpAlone,
  paysupport: helpAlone,
  terms: helpAlone,
}
const LISTED = ['start', 'buy', 'my', 'help'] as const

/** What people send; all else that Telegram calls a message is its own notice. */
const SENT = new Set(
  'text photo sticker video voice audio document animation video_note contact location venue poll dice story'.split(
    ' ',
  ),
)

/** `/command@bot payload` */
const COMMAND = /^\/(\w+)(?:@\w+)?(?:\s+(\S+))?/

const read = async (v: BotRequest): Promise<void> => {
  const text = v.ctx.message?.text ?? ''
  const [, command = '', payload] = COMMAND.exec(text) ?? []
  const work = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined
  if (work) return work(v, payload === undefined ? [] : [payload])
  if (giftCodeIn(text) !== undefined) return showGift(v, text)
  await showMenu(v, v.t.hint)
}

const tap = async (v: BotRequest): Promise<void> => {
  const { kind, args } = parseTap(v.ctx.callbackQuery?.data ?? '')
  await (Object.hasOwn(TAPS, kind) ? TAPS[kind as keyof typeof TAPS](v, args) : showStale(v))
}

/** Telegram's own faults, which nobody can be told of through it. */
const isTelegrams = (error: unknown) =>
  error instanceof HttpError || refusedAs(error, 429) || refusedAs(error, 401)

/** Begins the answer to an update. Where that fails, the sender is told in the language of their Telegram: of them nothing could be read. */
async function begin<V>(
  memory: BotMemory,
  ctx: Context,
  beginning: (memory: BotMemory, ctx: Context) => V | Promise<V>,
): Promise<V> {
  try {
    return await beginning(memory, ctx)
  } catch (error) {
    const { fault } = textsOf(langOf(memory.s, ctx.from?.language_code))
    const told: Promise<unknown> = ctx.callbackQuery ? answerTap(ctx, fault) : ctx.reply(fault)
    await told.catch(() => {})
    throw error
  }
}

/** Answers an update. A fault is the sender's to know of, and the log's. */
async function answer<V extends Visit>(v: V, work: (v: V) => Promise<void>): Promise<void> {
  try {
    await work(v)
    await endVisit(v)
  } catch (error) {
    // They have blocked the bot since: nobody is there to be answered.
    if (refusedAs(error, 403)) return noteBlocked(v.s, v.telegramId, true)
    // What failed is for the log, whether or not they can be told.
    if (!isTelegrams(error)) await say(v, v.t.fault).catch(() => {})
    throw error
  }
}

/** The same of a user, unless they are banned; of what connects an account also where nobody is one yet. */
async function receive(memory: BotMemory, ctx: Context, work: (v: BotRequest) => Promise<void>) {
  const code = connectCodeIn(ctx)
  if (code !== undefined) {
    const visit = await begin(memory, ctx, beginVisit)
    if (visit) await answer(visit, (v) => connectAccount(v, code))
    return
  }
  const request = await begin(memory, ctx, beginRequest)
  if (!request) return
  await answer(request, async (v) => {
    if (v.user.bannedAt === null) await work(v)
    else await send(v, [v.t.banned, supportLines(v)].join('\n\n').trim())
  })
}

/** Sends a text that Telegram can't parse once more, without its tags. */
const plainWhereRefused: Transformer = async (call, method, payload, signal) => {
  const answer = await call(method, payload, signal)
  if (answer.ok || !answer.description.includes("can't parse entities")) return answer
  const { parse_mode, ...plain } = payload as Record<string, unknown>
  if (parse_mode === undefined) return answer
  for (const key of ['text', 'caption']) {
    if (typeof plain[key] === 'string') plain[key] = plainOfHtml(plain[key])
  }
  return call(method, plain as typeof payload, signal)
}

/** Registers all of it. Handlers throw what they can't answer for. */
export function registerFlows(bot: Bot, s: Services): void {
  const memory = createBotMemory(s)
  bot.api.config.use(plainWhereRefused)
  bot.on('pre_checkout_query', (ctx) => answerPreCheckout(memory, ctx))
  const own = bot.chatType('private')
  own.on('message:successful_payment', (ctx) => takeStars(memory, ctx))
  own.on('message:refunded_payment', (ctx) => noteRefund(memory, ctx))
  own.on('my_chat_member', (ctx) => {
    const { status } = ctx.myChatMember.new_chat_member
    return noteBlocked(s, ctx.chat.id, status === 'kicked' || status === 'left')
  })
  own.on('message', async (ctx) => {
    if (Object.keys(ctx.message).some((key) => SENT.has(key))) await receive(memory, ctx, read)
  })
  own.on('callback_query', (ctx) => receive(memory, ctx, tap))
  // A button under a message of somebody else's chat is none of ours, but whoever tapped it waits.
  bot.on('callback_query', async (ctx) => {
    await answerTap(ctx)
  })
}

/** Tells Telegram the commands, in every language; those of DEFAULT_LANG to whom has another one. */
export async function setCommands(bot: Bot, s: Pick<Services, 'config'>): Promise<void> {
  const scope = { type: 'all_private_chats' } as const
  const listOf = (lang: (typeof BOT_LANGS)[number]) =>
    LISTED.map((command) => ({ command, description: textsOf(lang).commands[command] }))
  const usual = BOT_LANGS.find((lang) => lang === s.config.defaultLang) ?? 'en'
  await bot.api.setMyCommands(listOf(usual), { scope })
  for (const lang of BOT_LANGS) {
    await bot.api.setMyCommands(listOf(lang), { scope, language_code: lang })
  }
}
