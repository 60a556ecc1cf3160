/** "My subscriptions": what there is, the link and its ways into an app, and another link. */
import { InlineKeyboard } from 'grammy/web'
import { BOT_ACTOR } from '#src/domain/audit.ts'
import { deviceLimit } from '#src/domain/customers/devices.ts'
import { resetOwnLink } from '#src/domain/customers/links.ts'
import { fittingApps } from '#src/domain/lists/apps.ts'
import { isRenewable } from '#src/domain/payments/offer.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import { stringsOf } from '#src/web/strings.ts'
import { shortOf, tapData } from './callback-data.ts'
import { addChangeRows } from './change.ts'
import { addLinkRow, column } from './keyboards.ts'
import { showStale } from './menu.ts'
import { addPackRows } from './packs.ts'
import { type BotRequest, hoursToWait, linkOf, say, sendQr, show, type Work } from './request.ts'
import { findOwn, listOwn, type OwnSubscription } from './subscriptions.ts'

async function showList(v: BotRequest): Promise<void> {
  const { t } = v
  const own = await listOwn(v)
  const back: [string, string] = [t.back, tapData('menu')]
  if (own.length === 0) {
    const text = `${t.list}\n\n${t.listEmpty}`
    return show(v, text, column([[t.buy, tapData('buy')], back]))
  }
  const rows = own.map(({ row, shown }): [string, string] => [
    `${shown.node} · ${shown.term ?? shown.until}`,
    tapData('s', ownIdOf(v.s, row.uuid)),
  ])
  const text = [t.list, ...own.map(({ shown }) => t.line(shown))].join('\n\n')
  await show(v, text, column([...rows, [t.buy, tapData('buy')], back]))
}

/** Adds buttons that open an app through its bridge page: Telegram refuses links of other schemes than its own and the web's. */
function addImports(v: BotRequest, keyboard: InlineKeyboard): boolean {
  if (v.s.config.publicScheme !== 'https') return false
  const { apps: known, settings } = v.memory.catalogue()
  const { apps } = fittingApps(known, deviceLimit(v.user, settings) !== null)
  for (const [at, { id, name }] of apps.entries()) {
    keyboard.url(stringsOf(v.lang).addTo(name), `${linkOf(v)}/open/${id}?lang=${v.lang}`)
    if (at % 2 === 1 || at === apps.length - 1) keyboard.row()
  }
  return true
}

async function showCard(v: BotRequest, own: OwnSubscription): Promise<void> {
  const { t } = v
  const { row, shown, nodeLabel } = own
  const keyboard = addLinkRow(v, new InlineKeyboard())
  const imports = addImports(v, keyboard)
  if (nodeLabel !== null && isRenewable(row)) {
    keyboard.text(t.renew, tapData('r', ownIdOf(v.s, row.uuid))).row()
  }
  addPackRows(v, keyboard, own)
  await addChangeRows(v, keyboard, own)
  keyboard
    .text(t.devices, tapData('dev'))
    .text(t.reset, tapData('reset'))
    .row()
    .text(t.back, tapData('s'))
  const text = [t.line(shown), t.link(linkOf(v)), ...(imports ? [t.importHint] : [])]
  await show(v, text.join('\n\n'), keyboard)
}

/** The list, or the card of one. */
export const subscriptions: Work = async (v, [id]) => {
  if (id === undefined) return showList(v)
  const own = await findOwn(v, id)
  if (own) return showCard(v, own)
  await say(v, v.t.stale)
  await showList(v)
}

export const qr: Work = (v) => sendQr(v)

/** Replaces the link; null when the user has done that too often of late, of which they are told. */
async function reset(v: BotRequest): Promise<string | null> {
  try {
    return await resetOwnLink(v.s, BOT_ACTOR, v.user.tgId, v.user.token)
  } catch (error) {
    await say(v, v.t.resetLimitReached(hoursToWait(error)))
    return null
  }
}

/** Asks whether the link is to be another one; the button that says so counts for the present link alone, however often it is tapped. */
export const resetLink: Work = async (v, [digest]) => {
  const { t, user } = v
  if (digest === undefined) {
    const rows: [string, string][] = [
      [t.resetDo, tapData('reset', shortOf(user.token))],
      [t.back, tapData('s')],
    ]
    return show(v, t.resetAsk, column(rows))
  }
  if (digest !== shortOf(user.token)) return showStale(v)
  const token = await reset(v)
  if (token === null) return showList(v)
  const renewed = { ...v, user: { ...user, token } }
  const keyboard = addLinkRow(renewed, new InlineKeyboard()).text(t.my, tapData('s'))
  await show(v, t.resetDone(linkOf(renewed)), keyboard)
}
