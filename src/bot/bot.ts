/** The bot of one token: what every update passes before the flows (flows.ts), and how its calls reach Telegram. */

import { Bot, BotError, type Context, GrammyError, type Transformer } from 'grammy/web'
import { noteFault } from '#src/lib/note-fault.ts'
import { pause } from '#src/lib/pause.ts'
import { SECOND_MS } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { apiOptions, describeFault } from './api.ts'
import { createFloodGuard, isChatter } from './flood.ts'
import { registerFlows } from './flows.ts'
import { faultOf } from './updates.ts'

type Update = Context['update']

const CALL_SECONDS = 10
/** How long a call waits altogether when Telegram asks for a pause. */
const PATIENCE_SECONDS = 10
const FLOOD_UPDATES = 20
const FLOOD_WINDOW_MS = 10 * SECOND_MS

/** Tries a call again after the pause that Telegram asks for (`retry_after`, in seconds), where that is short. */
const waitOutFloods: Transformer = async (call, method, payload, signal) => {
  let waited = 0
  for (;;) {
    const answer = await call(method, payload, signal)
    const seconds = answer.ok ? 0 : (answer.parameters?.retry_after ?? 0)
    if (seconds <= 0 || waited + seconds > PATIENCE_SECONDS) return answer
    waited += seconds
    await pause(seconds * SECOND_MS)
  }
}

/** Leaves groups and channels that somebody adds the bot to; nothing else of them is looked at. */
async function leaveGroups(ctx: Context, next: () => Promise<void>): Promise<void> {
  if (ctx.chat === undefined || ctx.chat.type === 'private') return next()
  const status = ctx.myChatMember?.new_chat_member.status
  if (status === 'member' || status === 'administrator') await ctx.leaveChat()
}

/** What getMe would say of the bot, as far as anybody asks. */
const botInfo = (token: string, username: string) =>
  ({
    id: Number(token.split(':')[0]),
    is_bot: true,
    first_name: username,
    username,
  }) as Bot['botInfo']

/** The bot with its flows, ready for updates (`answerUpdate`). `username` is the one that belongs to the token. */
export function createBot(
  s: Services,
  { token, username }: { token: string; username: string },
): Bot {
  const bot = new Bot(token, {
    botInfo: botInfo(token, username),
    client: apiOptions(s, CALL_SECONDS),
  })
  bot.api.config.use(waitOutFloods)
  const isWithin = createFloodGuard(FLOOD_UPDATES, FLOOD_WINDOW_MS, s.clock.monotonicMs)
  bot.use(async ({ update }, next) => {
    const at = faultOf(update)
    if (at === null) return next()
    s.log.error('an update that can not be Telegram’s is left out', {
      update: update.update_id,
      at,
    })
  })
  bot.use(leaveGroups)
  bot.use(async (ctx, next) => {
    if (!isChatter(ctx.update) || isWithin(ctx.from?.id ?? 0)) await next()
  })
  registerFlows(bot, s)
  return bot
}

/** Who has blocked the bot meanwhile: nothing is wrong. */
const isBlocked = (error: unknown) => error instanceof GrammyError && error.error_code === 403

/** Lets the flows answer an update; what fails is logged. Never rejects. */
export async function answerUpdate(
  s: Pick<Services, 'log' | 'fatal'>,
  bot: Bot,
  update: Update,
): Promise<void> {
  try {
    await bot.handleUpdate(update)
  } catch (caught) {
    const error = caught instanceof BotError ? caught.error : caught
    const kind = Object.keys(update).find((key) => key !== 'update_id')
    const fields = { update: update.update_id, kind, reason: describeFault(error) }
    if (isBlocked(error)) s.log.debug('the user has blocked the bot', fields)
    else noteFault(s, 'error', 'the bot failed at an update', error, fields)
  }
}
