/** Every text of the admin page, in every language. */
import type { Lang } from './lang.ts'

const en = {
  title: 'Panel',
  noScript: 'The panel needs JavaScript.',
  login: 'Log in',
  username: 'User name',
  password: 'Password',
  code: 'Code from the authenticator app',
  confirm: 'Confirm',
  back: 'Back',
  logout: 'Log out',
  user: 'User',
  tgId: 'Telegram id',
  show: 'Show',
  grant: 'Grant a subscription',
  node: 'Node',
  plan: 'Plan',
  grantButton: 'Grant',
  nodes: 'Nodes',
  refresh: 'Refresh',
  sync: 'Sync now',
  syncForce: 'Sync, allow removals',
}

const enScript = {
  failed: 'No answer from the service. Try again.',
  hold: 'Hold',
  resume: 'Resume',
  revoke: 'Revoke',
  revokeQuestion: 'Revoke this subscription? It cannot be undone.',
  copy: 'Copy',
  copied: 'Copied',
  subLink: 'Subscription link',
  noSubscriptions: 'No subscriptions.',
  noNodes: 'No nodes.',
  active: 'active',
  held: 'held',
  expired: 'expired',
  revoked: 'revoked',
  disabled: 'disabled',
  blocked: 'removals blocked',
  until: 'until {date}, days left: {days}',
  devices: 'devices: {count}',
  granted: 'Granted.',
  synced: 'Synced: {added} added, {removed} removed.',
  syncFailed: 'Not synced: {nodes}',
  forceQuestion: 'Remove all clients without a subscription from the nodes?',
}

export type AdminStrings = typeof en & { script: typeof enScript }

const ru: typeof en = {
  title: 'Панель',
  noScript: 'Панели нужен JavaScript.',
  login: 'Войти',
  username: 'Имя',
  password: 'Пароль',
  code: 'Код из приложения-аутентификатора',
  confirm: 'Подтвердить',
  back: 'Назад',
  logout: 'Выйти',
  user: 'Пользователь',
  tgId: 'Telegram id',
  show: 'Показать',
  grant: 'Выдать подписку',
  node: 'Сервер',
  plan: 'Тариф',
  grantButton: 'Выдать',
  nodes: 'Серверы',
  refresh: 'Обновить',
  sync: 'Синхронизировать',
  syncForce: 'Синхронизировать с удалением',
}

const ruScript: typeof enScript = {
  failed: 'Сервис не отвечает. Попробуйте ещё раз.',
  hold: 'Приостановить',
  resume: 'Возобновить',
  revoke: 'Отозвать',
  revokeQuestion: 'Отозвать эту подписку? Отменить это нельзя.',
  copy: 'Скопировать',
  copied: 'Скопировано',
  subLink: 'Ссылка подписки',
  noSubscriptions: 'Подписок нет.',
  noNodes: 'Серверов нет.',
  active: 'активна',
  held: 'приостановлена',
  expired: 'истекла',
  revoked: 'отозвана',
  disabled: 'выключен',
  blocked: 'удаление остановлено',
  until: 'до {date}, осталось дней: {days}',
  devices: 'устройств: {count}',
  granted: 'Выдано.',
  synced: 'Готово: добавлено {added}, удалено {removed}.',
  syncFailed: 'Не синхронизировано: {nodes}',
  forceQuestion: 'Удалить с серверов всех клиентов без подписки?',
}

const catalogue: Record<Lang, AdminStrings> = {
  en: { ...en, script: enScript },
  ru: { ...ru, script: ruScript },
}

export const adminStringsOf = (lang: Lang): AdminStrings => catalogue[lang]
