/** /start, and what a link into the bot asks for. */
import { openRenewal, openSale, openShop } from './buy.ts'
import { showGift } from './gift.ts'
import { showMenu } from './menu.ts'
import { openPack } from './packs.ts'
import type { BotRequest, Work } from './request.ts'

/** What `t.me/<bot>?start=…` may carry (core.telegram.org/bots/features#deep-linking). */
const LINKS: [prefix: string, open: (v: BotRequest, rest: string) => Promise<void>][] = [
  ['gift_', showGift],
  ['buy_', openSale],
  ['renew_', openRenewal],
  ['pack_', openPack],
]

/** The menu, or what the link asks for. */
export const start: Work = async (v, [payload = '']) => {
  if (payload === 'buy') return openShop(v, [])
  const link = LINKS.find(([prefix]) => payload.startsWith(prefix))
  await (link ? link[1](v, payload.slice(link[0].length)) : showMenu(v))
}
