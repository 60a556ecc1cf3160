/** What admins are told of, and how. */
import { cut } from '#src/lib/format.ts'
import { escapeHtml } from '#src/lib/html.ts'

/** Who did it, from where; `admin` null: the operator at the machine. */
interface By {
  admin: string | null
  ip: string
}

/** A change of state that an admin wants to hear of; holds no secret. */
export type Alert =
  | { about: 'node-down'; node: string; reason: string }
  | { about: 'node-back'; node: string }
  | { about: 'removals-held-back'; node: string }
  | { about: 'server-not-cleaned'; node: string; address: string }
  | { about: 'snapshot-failed'; reason: string }
  | { about: 'disk-low'; freePercent: number }
  | { about: 'host-key-changed'; node: string }
  | { about: 'payment-in-review'; payment: string; reason: string }
  | ({ about: 'restored' } & By)
  | ({ about: 'backup-downloaded' } & By)
  | ({ about: 'admin-created'; username: string } & By)
  | ({ about: 'new-address' } & By)
  | ({ about: 'two-factor-off' } & By)

type Texts = {
  [K in Alert['about']]: (alert: Extract<Alert, { about: K }>) => string
}

const by = ({ admin, ip }: By) => (admin === null ? ip : `${admin}, ${ip}`)

const en: Texts = {
  'node-down': ({ node, reason }) =>
    `🔴 Node <b>${node}</b> has been down for 3 minutes: ${reason}`,
  'node-back': ({ node }) => `🟢 Node <b>${node}</b> is back`,
  'removals-held-back': ({ node }) =>
    `⚠️ Node <b>${node}</b>: removals are held back. Too many clients would go at once, or the node belongs to another installation. Find out why, then send the sync with force.`,
  'server-not-cleaned': ({ node, address }) =>
    `⚠️ The server ${address} of the deleted node <b>${node}</b> could not be reached for 30 days and is left alone. Whoever was a client there may still get in: shut it down.`,
  'snapshot-failed': ({ reason }) => `⚠️ The hourly snapshot failed: ${reason}`,
  'disk-low': ({ freePercent }) =>
    `⚠️ ${freePercent} % of the disk is free. When it is full, nothing can be sold or changed.`,
  'host-key-changed': ({ node }) =>
    `🚨 Node <b>${node}</b> presents another host key. Nothing is sent to it until you have checked the key and trusted it in the panel.`,
  'payment-in-review': ({ payment, reason }) =>
    `💳 A payment needs you: ${reason}\n<code>${payment}</code>`,
  restored: (alert) => `🚨 A backup was restored (${by(alert)})`,
  'backup-downloaded': (alert) => `⚠️ A backup was downloaded (${by(alert)})`,
  'admin-created': (alert) => `⚠️ New admin <b>${alert.username}</b> (by ${by(alert)})`,
  'new-address': (alert) => `⚠️ Login from a new address (${by(alert)})`,
  'two-factor-off': (alert) => `⚠️ Two-factor login was switched off (${by(alert)})`,
}

const ru: Texts = {
  'node-down': ({ node, reason }) => `🔴 Узел <b>${node}</b> не работает уже 3 минуты: ${reason}`,
  'node-back': ({ node }) => `🟢 Узел <b>${node}</b> снова работает`,
  'removals-held-back': ({ node }) =>
    `⚠️ Узел <b>${node}</b>: удаление клиентов остановлено. Их было бы слишком много сразу, или узел принадлежит другой установке. Выясните причину и отправьте синхронизацию с force.`,
  'server-not-cleaned': ({ node, address }) =>
    `⚠️ Сервер ${address} удалённого узла <b>${node}</b> был недоступен 30 дней, попытки прекращены. Его прежние клиенты, возможно, ещё подключаются: выключите его.`,
  'snapshot-failed': ({ reason }) => `⚠️ Ежечасный снимок не удался: ${reason}`,
  'disk-low': ({ freePercent }) =>
    `⚠️ На диске свободно ${freePercent} %. Когда он заполнится, ничего нельзя будет продать или изменить.`,
  'host-key-changed': ({ node }) =>
    `🚨 Узел <b>${node}</b> предъявляет другой ключ SSH. Ему ничего не отправляется, пока вы не проверите ключ и не подтвердите его в панели.`,
  'payment-in-review': ({ payment, reason }) =>
    `💳 Платёж требует внимания: ${reason}\n<code>${payment}</code>`,
  restored: (alert) => `🚨 Восстановлена резервная копия (${by(alert)})`,
  'backup-downloaded': (alert) => `⚠️ Скачана резервная копия (${by(alert)})`,
  'admin-created': (alert) =>
    `⚠️ Новый администратор <b>${alert.username}</b> (создал ${by(alert)})`,
  'new-address': (alert) => `⚠️ Вход с нового адреса (${by(alert)})`,
  'two-factor-off': (alert) => `⚠️ Двухфакторный вход отключён (${by(alert)})`,
}

const TEXTS: Record<'en' | 'ru', Texts> = { en, ru }

/** A name or a reason as it is shown: reasons come from other machines, and a message has at most 4096 characters. */
const shown = (text: string) => escapeHtml(cut(text, 300))

/** An alert in Telegram's HTML; undefined for one of another version. */
export function alertText(lang: 'en' | 'ru', alert: Alert): string | undefined {
  const texts = TEXTS[lang] as Record<string, ((alert: Alert) => string) | undefined>
  const escaped = Object.fromEntries(
    Object.entries(alert).map(([key, value]) => [
      key,
      typeof value === 'string' && key !== 'about' ? shown(value) : value,
    ]),
  ) as Alert
  return Object.hasOwn(texts, alert.about) ? texts[alert.about]?.(escaped) : undefined
}
