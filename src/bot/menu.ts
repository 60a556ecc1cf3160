/** The menu, and what many screens end with: where to ask, what to read, that a button is out of date. */
import { cut } from '#src/lib/format.ts'
import { tapData } from './callback-data.ts'
import { column } from './keyboards.ts'
import { type BotRequest, say, show } from './request.ts'

/** A name is as its bearer wrote it: as long as they like. */
const NAME_LENGTH = 64

function menuKeyboard({ s, t, user }: BotRequest) {
  const keyboard = column([
    [t.buy, tapData('buy')],
    [t.my, tapData('s')],
    [t.help, tapData('help')],
  ])
  const { publicScheme, domains } = s.config
  // Telegram opens nothing else.
  return publicScheme === 'https'
    ? keyboard.row().url(t.cabinet, `https://${domains.site}/cabinet.html#${user.token}`)
    : keyboard
}

/** Shows the menu, under `text` where that is to be said first. */
export async function showMenu(v: BotRequest, text?: string): Promise<void> {
  const brand = v.memory.catalogue().settings.text('BRAND_NAME')
  const name = cut(v.ctx.from?.first_name ?? '', NAME_LENGTH)
  await show(v, text ?? v.t.hello(name, brand), menuKeyboard(v))
}

/** Says that a button is out of date, and shows the menu. */
export async function showStale(v: BotRequest): Promise<void> {
  await say(v, v.t.stale)
  await showMenu(v)
}

/** Where support is: its contact and address as they are, none while nobody has set it. */
export function supportOf({ memory }: BotRequest): { contact: string; email: string } {
  const { settings } = memory.catalogue()
  return { contact: settings.text('SUPPORT_CONTACT'), email: settings.text('SUPPORT_EMAIL') }
}

/** The same in HTML; empty while nobody has set it. */
export function supportLines(v: BotRequest): string {
  const { contact, email } = supportOf(v)
  return [contact && v.t.support(contact), email && v.t.email(email)].filter(Boolean).join('\n')
}

export const legalUrl = ({ s, lang }: BotRequest, page: 'offer' | 'privacy'): string =>
  `${s.config.publicScheme}://${s.config.domains.site}/${page}?lang=${lang}`
