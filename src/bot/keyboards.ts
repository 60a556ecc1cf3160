/** Buttons that several screens have. */
import { InlineKeyboard } from 'grammy/web'
import { type TapKind, tapData } from './callback-data.ts'
import { type BotRequest, linkOf } from './request.ts'

/** Telegram takes 100 buttons under a message; this many of a list leave room for the others. */
export const MOST_LISTED = 90
/** Characters that a button can copy. */
const COPY_LIMIT = 256

/** One button per row. */
export const column = (rows: [label: string, data: string][]): InlineKeyboard =>
  new InlineKeyboard(rows.map(([label, data]) => [InlineKeyboard.text(label, data)]))

export const single = (label: string, kind: TapKind, ...args: string[]): InlineKeyboard =>
  column([[label, tapData(kind, ...args)]])

/** Adds a row for the link: to copy it, and to see it as a QR code. */
export function addLinkRow(v: BotRequest, keyboard: InlineKeyboard): InlineKeyboard {
  const link = linkOf(v)
  if (link.length <= COPY_LIMIT) keyboard.copyText(v.t.copyLink, link)
  return keyboard.text(v.t.qr, tapData('qr')).row()
}
