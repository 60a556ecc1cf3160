/**
 * Connecting an account of the site, by the link that its page gives. Neither the link nor the tap makes who follows it a user: who has no
 * account here gets the one that they connect.
 */
import type { Context } from 'grammy/web'
import type { User } from '#db/schema/index.ts'
import { BOT_ACTOR } from '#src/domain/audit.ts'
import {
  type ConnectRefusal,
  connectTelegram,
  findConnection,
} from '#src/domain/customers/linking.ts'
import { single } from './keyboards.ts'
import { showMenu } from './menu.ts'
import { beginRequest, langOf, say, show, type Visit } from './request.ts'

const START = /^\/start(?:@\w+)?\s+link_([\w-]{1,43})\s*$/
const TAP = /^link:([\w-]{1,43})$/

/** The code that an update would connect an account by; undefined where it is about something else. */
export const connectCodeIn = ({ message, callbackQuery }: Context): string | undefined =>
  (START.exec(message?.text ?? '') ?? TAP.exec(callbackQuery?.data ?? ''))?.[1]

/** No address: whoever was lent the link would learn it. */
const nameOf = ({ name, tgId }: User): string => name ?? String(tgId)

const refusalOf = ({ t }: Visit, refusal: ConnectRefusal): string =>
  refusal === 'banned' ? t.connectBanned : t.connectStale

/** Asks whether the account of a code is to be connected: a link that somebody sends connects nothing by itself. */
async function ask(v: Visit, code: string): Promise<void> {
  const found = await findConnection(v.s, code, v.telegramId)
  if (typeof found === 'string') return show(v, refusalOf(v, found))
  const text = v.t.connectAsk(nameOf(found.customer), found.known !== undefined)
  await show(v, text, single(v.t.connectDo, 'link', code))
}

/** Shows what a code connects, or connects it where the button under that was tapped. */
export async function connectAccount(v: Visit, code: string): Promise<void> {
  const { s, ctx, telegramId } = v
  if (!ctx.callbackQuery) return ask(v, code)
  const user = await connectTelegram(s, BOT_ACTOR, code, {
    tgId: telegramId,
    username: ctx.from?.username ?? null,
    lang: langOf(s, ctx.from?.language_code),
  })
  if (typeof user === 'string') return say(v, refusalOf(v, user))
  const request = await beginRequest(v.memory, ctx)
  if (request) await showMenu(request, v.t.connected)
}
