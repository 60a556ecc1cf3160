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
  | { about: 'snapshot-unsound'; table: string; column: string }
  | { about: 'disk-low'; freePercent: number }
  | { about: 'rules-missing'; files: string }
  | { about: 'rules-back' }
  | { about: 'templates-broken'; faults: string }
  | { about: 'host-key-changed'; node: string }
  | { about: 'payment-in-review'; payment: string; reason: string }
  | ({ about: 'restored'; passphraseTaken?: true } & By)
  | ({ about: 'backup-downloaded' } & By)
  | ({ about: 'backup-passphrase'; isSet: boolean } & By)
  | ({ about: 'admin-created'; username: string } & By)
  | ({ about: 'admin-reset'; username: string } & By)
  | ({ about: 'new-address' } & By)
  | ({ about: 'session-ended' } & By)
  | ({ about: 'admin-removed'; username: string } & By)
  | ({ about: 'password-changed' } & By)
  | ({ about: 'two-factor-on' } & By)
  | ({ about: 'two-factor-off' } & By)
  | ({ about: 'two-factor-rule'; required: boolean } & By)
  | ({ about: 'recovery-codes-made' } & By)
  | ({ about: 'recovery-code-used'; left: number } & By)
  | ({ about: 'recipients-changed' } & By)
  | ({ about: 'bot-changed'; before: string; username: string } & By)
  | ({ about: 'gateway-changed'; gateway: string } & By)
  | ({ about: 'webhook-changed' } & By)
  | ({ about: 'webhook-secret-changed' } & By)
  | ({ about: 'events-unticked'; events: string } & By)
  | ({ about: 'command-reissued'; node: string } & By)
  | ({ about: 'server-taken'; node: string; other: string } & By)
  | ({ about: 'host-key-trusted'; node: string; fingerprint: string } & By)

type Texts = {
  [K in Alert['about']]: (alert: Extract<Alert, { about: K }>) => string
}

const by = ({ admin, ip }: By) => (admin === null ? ip : `${admin}, ${ip}`)

/** A bot by its name; `-` where none was known. */
const shownBot = (username: string) => (username === '' ? '-' : `@${username}`)

const en: Texts = {
  'node-down': ({ node, reason }) =>
    `🔴 Node <b>${node}</b> has been down for 3 minutes: <code>${reason}</code>`,
  'node-back': ({ node }) => `🟢 Node <b>${node}</b> is back`,
  'removals-held-back': ({ node }) =>
    `⚠️ Node <b>${node}</b>: removals are held back. Too many clients would go at once, or the node belongs to another installation. Find out why, then send the sync with force.`,
  'server-not-cleaned': ({ node, address }) =>
    `⚠️ The server ${address} of the deleted node <b>${node}</b> could not be reached for 30 days and is left alone. Whoever was a client there may still get in: shut it down.`,
  'snapshot-failed': ({ reason }) => `⚠️ The hourly snapshot failed: <code>${reason}</code>`,
  'snapshot-unsound': ({ table, column }) =>
    `🚨 No backup of the present data could be restored: the column <code>${column}</code> of <code>${table}</code> holds a value that a restore refuses. <code>npm run verify</code> on the server names the rows.`,
  'disk-low': ({ freePercent }) =>
    `⚠️ ${freePercent} % of the disk is free. When it is full, nothing can be sold or changed.`,
  'rules-missing': ({ files }) =>
    `⚠️ Rule files can't be had: <code>${files}</code>. Lists that need them have no routing preset meanwhile (docs/lists.md).`,
  'rules-back': () => '🟢 The rule files are there again: lists have their routing preset',
  'templates-broken': ({ faults }) =>
    `⚠️ A list template can't be used: <code>${faults}</code>. Apps get the built-in list meanwhile: correct the template in Settings, Lists.`,
  'host-key-changed': ({ node }) =>
    `🚨 Node <b>${node}</b> presents another host key. Nothing is sent to it until you have checked the key and trusted it in the panel.`,
  'payment-in-review': ({ payment, reason }) =>
    `💳 A payment needs you: <code>${reason}</code>\n<code>${payment}</code>`,
  restored: (alert) =>
    `🚨 A backup was restored (${by(alert)})${alert.passphraseTaken ? '. Backups are encrypted to its passphrase from now on: whoever does not know it can open none of them' : ''}`,
  'backup-downloaded': (alert) => `⚠️ A backup was downloaded (${by(alert)})`,
  'backup-passphrase': (alert) =>
    alert.isSet
      ? `⚠️ Backups are encrypted to another passphrase from now on (${by(alert)})`
      : `🚨 Backups are not encrypted any more (${by(alert)})`,
  'admin-created': (alert) => `⚠️ New admin <b>${alert.username}</b> (by ${by(alert)})`,
  'admin-reset': (alert) =>
    `🚨 Admin <b>${alert.username}</b> has a new password and no second factor any more: <code>npm run reset-admin</code> (${by(alert)})`,
  'new-address': (alert) => `⚠️ Login from a new address (${by(alert)})`,
  'session-ended': (alert) =>
    `🚨 Too many wrong passwords or codes in one session: it was ended, and may have been stolen (${by(alert)})`,
  'admin-removed': (alert) => `⚠️ Admin <b>${alert.username}</b> was removed (by ${by(alert)})`,
  'password-changed': (alert) => `⚠️ An admin's password was changed (${by(alert)})`,
  'two-factor-on': (alert) => `🔐 Two-factor login was switched on (${by(alert)})`,
  'two-factor-off': (alert) => `⚠️ Two-factor login was switched off (${by(alert)})`,
  'two-factor-rule': (alert) =>
    alert.required
      ? `🔐 All admins now need two-factor login (set by ${by(alert)})`
      : `⚠️ Two-factor login is no longer required of all admins (set by ${by(alert)})`,
  'recovery-codes-made': (alert) => `⚠️ New recovery codes were made (${by(alert)})`,
  'recovery-code-used': (alert) =>
    `🚨 Login with a recovery code in place of the app (${by(alert)}). Codes left: ${alert.left}`,
  'recipients-changed': (alert) => `🚨 Alerts now go to other people (changed by ${by(alert)})`,
  'bot-changed': (alert) =>
    `🚨 The bot has another token: <b>${shownBot(alert.username)}</b>, before <b>${shownBot(alert.before)}</b> (changed by ${by(alert)})`,
  'gateway-changed': (alert) =>
    `⚠️ Credentials of ${alert.gateway} were changed: whoever holds that account gets the money (${by(alert)})`,
  'webhook-changed': (alert) => `⚠️ Events are now sent to another address (${by(alert)})`,
  'webhook-secret-changed': (alert) => `⚠️ The secret of the webhook was replaced (${by(alert)})`,
  'events-unticked': (alert) =>
    `⚠️ Some events are not sent any more: ${alert.events} (${by(alert)})`,
  'command-reissued': (alert) =>
    `⚠️ The install command of the running node <b>${alert.node}</b> was given out again, with its private keys: who runs it elsewhere takes its place (${by(alert)})`,
  'server-taken': (alert) =>
    `⚠️ The server of node <b>${alert.node}</b> was set up as node <b>${alert.other}</b>: <b>${alert.node}</b> serves nobody until it has a server again (${by(alert)})`,
  'host-key-trusted': (alert) =>
    `⚠️ A new host key of node <b>${alert.node}</b> was trusted: <code>${alert.fingerprint}</code> (${by(alert)})`,
}

const ru: Texts = {
  'node-down': ({ node, reason }) =>
    `🔴 Узел <b>${node}</b> не работает уже 3 минуты: <code>${reason}</code>`,
  'node-back': ({ node }) => `🟢 Узел <b>${node}</b> снова работает`,
  'removals-held-back': ({ node }) =>
    `⚠️ Узел <b>${node}</b>: удаление клиентов остановлено. Их было бы слишком много сразу, или узел принадлежит другой установке. Выясните причину и отправьте синхронизацию с force.`,
  'server-not-cleaned': ({ node, address }) =>
    `⚠️ Сервер ${address} удалённого узла <b>${node}</b> был недоступен 30 дней, попытки прекращены. Его прежние клиенты, возможно, ещё подключаются: выключите его.`,
  'snapshot-failed': ({ reason }) => `⚠️ Ежечасный снимок не удался: <code>${reason}</code>`,
  'snapshot-unsound': ({ table, column }) =>
    `🚨 Ни одну резервную копию нынешних данных нельзя будет восстановить: в столбце <code>${column}</code> таблицы <code>${table}</code> есть значение, которое восстановление не примет. Строки назовёт <code>npm run verify</code> на сервере.`,
  'disk-low': ({ freePercent }) =>
    `⚠️ На диске свободно ${freePercent} %. Когда он заполнится, ничего нельзя будет продать или изменить.`,
  'rules-missing': ({ files }) =>
    `⚠️ Нет файлов правил: <code>${files}</code>. В списках, которым они нужны, пока нет пресета маршрутизации (docs/lists.md).`,
  'rules-back': () => '🟢 Файлы правил снова на месте: пресет маршрутизации вернулся в списки',
  'templates-broken': ({ faults }) =>
    `⚠️ Шаблон списка нельзя использовать: <code>${faults}</code>. Приложения пока получают встроенный список: исправьте шаблон в разделе «Настройки → Списки».`,
  'host-key-changed': ({ node }) =>
    `🚨 Узел <b>${node}</b> предъявляет другой ключ SSH. Ему ничего не отправляется, пока вы не проверите ключ и не подтвердите его в панели.`,
  'payment-in-review': ({ payment, reason }) =>
    `💳 Платёж требует внимания: <code>${reason}</code>\n<code>${payment}</code>`,
  restored: (alert) =>
    `🚨 Восстановлена резервная копия (${by(alert)})${alert.passphraseTaken ? '. Копии теперь шифруются её парольной фразой: кто её не знает, не откроет ни одну' : ''}`,
  'backup-downloaded': (alert) => `⚠️ Скачана резервная копия (${by(alert)})`,
  'backup-passphrase': (alert) =>
    alert.isSet
      ? `⚠️ Резервные копии теперь шифруются новым паролем (${by(alert)})`
      : `🚨 Резервные копии больше не шифруются (${by(alert)})`,
  'admin-created': (alert) =>
    `⚠️ Новый администратор <b>${alert.username}</b> (создал ${by(alert)})`,
  'admin-reset': (alert) =>
    `🚨 У администратора <b>${alert.username}</b> новый пароль и больше нет второго фактора: <code>npm run reset-admin</code> (${by(alert)})`,
  'new-address': (alert) => `⚠️ Вход с нового адреса (${by(alert)})`,
  'session-ended': (alert) =>
    `🚨 Слишком много неверных паролей или кодов в одном сеансе: он завершён и, возможно, был украден (${by(alert)})`,
  'admin-removed': (alert) =>
    `⚠️ Администратор <b>${alert.username}</b> удалён (удалил ${by(alert)})`,
  'password-changed': (alert) => `⚠️ Пароль администратора изменён (${by(alert)})`,
  'two-factor-on': (alert) => `🔐 Двухфакторный вход включён (${by(alert)})`,
  'two-factor-off': (alert) => `⚠️ Двухфакторный вход отключён (${by(alert)})`,
  'two-factor-rule': (alert) =>
    alert.required
      ? `🔐 Двухфакторный вход теперь обязателен для всех админов (включил ${by(alert)})`
      : `⚠️ Двухфакторный вход больше не обязателен для всех админов (выключил ${by(alert)})`,
  'recovery-codes-made': (alert) => `⚠️ Созданы новые коды восстановления (${by(alert)})`,
  'recovery-code-used': (alert) =>
    `🚨 Вход по коду восстановления вместо приложения (${by(alert)}). Осталось кодов: ${alert.left}`,
  'recipients-changed': (alert) =>
    `🚨 Оповещения теперь получают другие люди (изменил ${by(alert)})`,
  'bot-changed': (alert) =>
    `🚨 У бота другой токен: <b>${shownBot(alert.username)}</b>, прежде <b>${shownBot(alert.before)}</b> (изменил ${by(alert)})`,
  'gateway-changed': (alert) =>
    `⚠️ Изменены данные ${alert.gateway}: деньги получает тот, чей это счёт (${by(alert)})`,
  'webhook-changed': (alert) => `⚠️ События отправляются на другой адрес (${by(alert)})`,
  'webhook-secret-changed': (alert) => `⚠️ Секрет вебхука заменён (${by(alert)})`,
  'events-unticked': (alert) =>
    `⚠️ Эти события больше не отправляются: ${alert.events} (${by(alert)})`,
  'command-reissued': (alert) =>
    `⚠️ Команда установки работающего узла <b>${alert.node}</b> выдана ещё раз, вместе с его закрытыми ключами: кто выполнит её на другом сервере, займёт его место (${by(alert)})`,
  'server-taken': (alert) =>
    `⚠️ Сервер узла <b>${alert.node}</b> настроен как узел <b>${alert.other}</b>: <b>${alert.node}</b> никого не обслуживает, пока у него снова нет сервера (${by(alert)})`,
  'host-key-trusted': (alert) =>
    `⚠️ Принят новый ключ SSH узла <b>${alert.node}</b>: <code>${alert.fingerprint}</code> (${by(alert)})`,
}

const TEXTS: Record<'en' | 'ru', Texts> = { en, ru }

/** What would begin another line, or turn a line round. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/**
 * A name or a reason as it is shown: reasons come from other machines, and a message has at most 4096 characters. On one line, so
 * that none looks like an alert of its own; Telegram makes no links of what stands in `code`.
 */
const shown = (text: string) => escapeHtml(cut(text.replace(BREAKS, ' '), 300))

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
