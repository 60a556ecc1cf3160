/** What bot messages say: the kinds of `outbox` rows, and their texts in Telegram's HTML. They need no bot process. */
import type { Query } from '#db/engine/database.ts'
import { insertMessage } from '#db/messages.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import { botLink } from '#src/lib/bot-link.ts'
import { escapeHtml } from '#src/lib/html.ts'
import { sizeText } from '#src/lib/sizes.ts'
import { subLink } from '#src/lib/sub-link.ts'
import { ENDLESS, formatDay, parseTimestamp } from '#src/lib/time.ts'
import type { LinkButton } from '#src/ports/messenger.ts'
import type { Services } from '#src/services.ts'
import { type Alert, alertText } from './alert-texts.ts'
import { packButtons, type ToppedUp, toppedUpHtml } from './pack-texts.ts'

/** A grant, as it was made: labels and expiry are those of back then, link and language those of the moment of sending. */
export interface GrantedMessage {
  kind: 'granted'
  payload: { node_label: string; plan_label: string; expires_at: string; unstarted?: true }
}

export interface AlertMessage {
  kind: 'alert'
  payload: Alert
}

/** That a subscription ends soon, or has; `renewable`: something was for sale then. */
export interface ReminderMessage {
  kind: 'reminder'
  payload: GrantedMessage['payload'] & {
    subscription: string
    ended: boolean
    renewable: boolean
  }
}

/** How much of its traffic a subscription has used, in %; `left` bytes of this period, which ends at `resets_at`. */
export interface TrafficMessage {
  kind: 'traffic'
  payload: {
    node_label: string
    plan_label: string
    subscription: string
    used: number
    left: number
    resets_at: string | null
    /** What has no end is not renewed. */
    endless?: true
  }
}

export interface ToppedUpMessage {
  kind: 'topped-up'
  payload: ToppedUp
}

export type Message =
  | GrantedMessage
  | AlertMessage
  | ReminderMessage
  | TrafficMessage
  | ToppedUpMessage

/**
 * Queues a message in the transaction of what it tells of; after the commit `nudge('messages')` sends it. Nothing for a customer
 * without a Telegram id. `botToken`: of a former bot that is to send it; the present one does where that is refused.
 */
export function* queueMessage(
  tx: Query,
  now: string,
  telegramId: number | null,
  message: Message,
  botToken: string | null = null,
) {
  if (telegramId === null) return
  const { kind, payload } = message
  yield* insertMessage(tx, { tgId: telegramId, kind, payload: { ...payload }, now, botToken })
}

export type Lang = 'en' | 'ru'

/** The language of a Telegram language tag, or of DEFAULT_LANG where messages are not written in it. */
export function messageLang(tag: string | null | undefined, defaultLang: string): Lang {
  const primary = tag?.toLowerCase().split(/[-_]/)[0]
  if (primary === 'ru' || primary === 'en') return primary
  return defaultLang === 'ru' ? 'ru' : 'en'
}

interface SubscriptionFields {
  node: string
  plan: string
  until: string
  /** `until` and the day, or what is said in place of it. */
  term: string
  link: string
}

const GRANTED: Record<Lang, (fields: SubscriptionFields) => string> = {
  en: ({ node, plan, term, link }) =>
    `✅ <b>Your access is ready</b>

Server: <b>${node}</b>
Plan: <b>${plan}</b>, ${term}

Your subscription link. Open it in a browser and follow the steps, or paste it into your app:
${link}`,
  ru: ({ node, plan, term, link }) =>
    `✅ <b>Доступ готов</b>

Сервер: <b>${node}</b>
Тариф: <b>${plan}</b>, ${term}

Ваша ссылка подписки. Откройте её в браузере и следуйте инструкции или вставьте в приложение:
${link}`,
}

interface Terms {
  until: (day: string) => string
  endless: string
  unstarted: string
}

const TERMS: Record<Lang, Terms> = {
  en: {
    until: (day) => `until <b>${day}</b>`,
    endless: 'without end',
    unstarted: 'starts with the first use',
  },
  ru: {
    until: (day) => `до <b>${day}</b>`,
    endless: 'без срока',
    unstarted: 'срок пойдёт с первого подключения',
  },
}

interface ReminderTexts {
  soon: (until: string) => string
  ended: (until: string) => string
  rest: (fields: SubscriptionFields) => string
  renewSoon: string
  renewEnded: string
  page: string
  button: string
}

const REMINDERS: Record<Lang, ReminderTexts> = {
  en: {
    soon: (until) => `⏳ <b>Your access ends on ${until}</b>`,
    ended: (until) => `⌛ <b>Your access ended on ${until}</b>`,
    rest: ({ node, plan }) => `Server: <b>${node}</b>\nPlan: <b>${plan}</b>`,
    renewSoon: 'Renew it in time, here in the bot, and nothing changes in your apps. Your page:',
    renewEnded: 'Renew it here in the bot, and your apps work again as they are. Your page:',
    page: 'Your page:',
    button: '🔄 Renew',
  },
  ru: {
    soon: (until) => `⏳ <b>Доступ заканчивается ${until}</b>`,
    ended: (until) => `⌛ <b>Доступ закончился ${until}</b>`,
    rest: ({ node, plan }) => `Сервер: <b>${node}</b>\nТариф: <b>${plan}</b>`,
    renewSoon:
      'Продлите вовремя здесь, в боте, и в приложениях ничего менять не придётся. Ваша страница:',
    renewEnded:
      'Продлите здесь, в боте, и приложения снова заработают без настройки. Ваша страница:',
    page: 'Ваша страница:',
    button: '🔄 Продлить',
  },
}

interface TrafficTexts {
  left: (bytes: string) => string
  until: (day: string) => string
  used: string
  back: (day: string) => string
  gone: string
  server: string
  plan: string
}

const TRAFFIC: Record<Lang, TrafficTexts> = {
  en: {
    left: (bytes) => `📶 <b>${bytes} of traffic left</b>`,
    until: (day) => `It is for the time until ${day}.`,
    used: '📵 <b>Your traffic is used up</b>',
    back: (day) => `It comes back on ${day}.`,
    gone: 'It comes back when you renew.',
    server: 'Server',
    plan: 'Plan',
  },
  ru: {
    left: (bytes) => `📶 <b>Осталось ${bytes} трафика</b>`,
    until: (day) => `Это на время до ${day}.`,
    used: '📵 <b>Трафик израсходован</b>',
    back: (day) => `Он вернётся ${day}.`,
    gone: 'Он вернётся после продления.',
    server: 'Сервер',
    plan: 'Тариф',
  },
}

function trafficHtml(
  lang: Lang,
  timezone: string,
  link: string,
  payload: TrafficMessage['payload'],
) {
  const texts = TRAFFIC[lang]
  const { used, left, resets_at: resetsAt, endless } = payload
  const day = resetsAt === null ? null : formatDay(timezone, parseTimestamp(resetsAt))
  const isUsedUp = used >= 100
  const head = isUsedUp ? texts.used : texts.left(sizeText(left, lang))
  const when = isUsedUp
    ? day === null
      ? endless
        ? ''
        : texts.gone
      : texts.back(day)
    : day === null
      ? ''
      : texts.until(day)
  const names = [
    `${texts.server}: <b>${escapeHtml(payload.node_label)}</b>`,
    `${texts.plan}: <b>${escapeHtml(payload.plan_label)}</b>`,
  ]
  return [head, names.join('\n'), [when, link].filter(Boolean).join('\n')].join('\n\n')
}

function reminderHtml(lang: Lang, payload: ReminderMessage['payload'], fields: SubscriptionFields) {
  const texts = REMINDERS[lang]
  const { ended, renewable } = payload
  const head = (ended ? texts.ended : texts.soon)(fields.until)
  const renew = ended ? texts.renewEnded : texts.renewSoon
  return `${head}\n\n${texts.rest(fields)}\n\n${renewable ? renew : texts.page}\n${fields.link}`
}

/** What is said of how long it lasts. */
function termOf(terms: Terms, payload: GrantedMessage['payload'], until: string): string {
  if (payload.unstarted) return terms.unstarted
  return payload.expires_at === ENDLESS ? terms.endless : terms.until(until)
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
  if (!recipient) return null
  const link = escapeHtml(subLink(config, recipient.token))
  if (kind === 'traffic') return trafficHtml(lang, config.timezone, link, payload)
  if (kind === 'topped-up') return toppedUpHtml(lang, config.timezone, link, payload)
  if (kind !== 'granted' && kind !== 'reminder') return null
  const until = formatDay(config.timezone, parseTimestamp(payload.expires_at))
  const terms = TERMS[lang]
  const fields: SubscriptionFields = {
    node: escapeHtml(payload.node_label),
    plan: escapeHtml(payload.plan_label),
    until,
    term: termOf(terms, payload, until),
    link,
  }
  return kind === 'granted' ? GRANTED[lang](fields) : reminderHtml(lang, payload, fields)
}

/** The buttons under a message: a renewal's opens the bot with the payload `renew_ID`, the id that its owner knows, those of traffic at its packs. `botUsername` may be empty: then there is none. */
export function messageButtons(
  s: Pick<Services, 'db' | 'config'>,
  row: { kind: string; payload: Record<string, unknown> },
  recipient: Recipient | undefined,
  botUsername: string,
): LinkButton[] {
  const { kind, payload } = row as unknown as Message
  const { botLinkBase, defaultLang } = s.config
  const lang = messageLang(recipient?.lang, defaultLang)
  if (kind === 'traffic') return packButtons(s, payload.subscription, lang, botUsername)
  if (kind !== 'reminder' || !payload.renewable) return []
  const url = botLink(botLinkBase, botUsername, `renew_${ownIdOf(s, payload.subscription)}`)
  const { button: text } = REMINDERS[lang]
  return url === null ? [] : [{ text, url }]
}
