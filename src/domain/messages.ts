/** What bot messages say: the kinds of `outbox` rows, and their texts in Telegram's HTML. They need no bot process. */
import type { Query } from '#db/open.ts'
import { queueMessage } from '#db/outbox.ts'
import { escapeHtml } from '#src/lib/html.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { formatDay, parseTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { type Alert, alertText } from './alert-texts.ts'

/** A grant, as it was made: labels and expiry are those of back then, link and language those of the moment of sending. */
export interface GrantedMessage {
  kind: 'granted'
  payload: { node_label: string; plan_label: string; expires_at: string }
}

export interface AlertMessage {
  kind: 'alert'
  payload: Alert
}

export type Message = GrantedMessage | AlertMessage

/** Queues a message in the transaction of what it tells of; after the commit `nudge('messages')` sends it. */
export function* tell(tx: Query, now: string, tgId: number, message: Message) {
  yield* queueMessage(tx, { tgId, kind: message.kind, payload: { ...message.payload }, now })
}

export type Lang = 'en' | 'ru'

/** The language of a Telegram language tag, or of DEFAULT_LANG where messages are not written in it. */
export function messageLang(tag: string | null | undefined, defaultLang: string): Lang {
  const primary = tag?.toLowerCase().split(/[-_]/)[0]
  if (primary === 'ru' || primary === 'en') return primary
  return defaultLang === 'ru' ? 'ru' : 'en'
}

interface GrantedFields {
  node: string
  plan: string
  until: string
  link: string
}

const GRANTED: Record<Lang, (fields: GrantedFields) => string> = {
  en: ({ node, plan, until, link }) =>
    `✅ <b>Your access is ready</b>

Server: <b>${node}</b>
Plan: <b>${plan}</b>, until <b>${until}</b>

Your subscription link. Open it in a browser and follow the steps, or paste it into your app:
${link}`,
  ru: ({ node, plan, until, link }) =>
    `✅ <b>Доступ готов</b>

Сервер: <b>${node}</b>
Тариф: <b>${plan}</b>, до <b>${until}</b>

Ваша ссылка подписки. Откройте её в браузере и следуйте шагам или вставьте в приложение:
${link}`,
}

/** The user of a message; an admin of ADMIN_TG_IDS need not be one. */
export interface Recipient {
  token: string
  lang: string | null
}

/** The HTML of a message, or null when it can't be written: its user is gone, or its kind is of another version. */
export function messageHtml(
  { config }: Pick<Services, 'config'>,
  row: { kind: string; payload: Record<string, unknown> },
  recipient: Recipient | undefined,
): string | null {
  const { kind, payload } = row as unknown as Message
  const lang = messageLang(recipient?.lang, config.defaultLang)
  if (kind === 'alert') return alertText(lang, payload) ?? null
  if (kind !== 'granted' || !recipient) return null
  return GRANTED[lang]({
    node: escapeHtml(payload.node_label),
    plan: escapeHtml(payload.plan_label),
    until: formatDay(config.timezone, parseTimestamp(payload.expires_at)),
    link: escapeHtml(subLink(config, recipient.token)),
  })
}
