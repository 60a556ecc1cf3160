/** The payments and their review. */
import { plural } from '#src/admin-ui/i18n.ts'
import type { PaymentsTexts } from './payments.en.ts'

const payments = (n: number) =>
  plural('ru', n, { one: 'платёж', few: 'платежа', other: 'платежей' })

export const paymentsRu: PaymentsTexts = {
  title: 'Платежи',
  sub: (text, capped) => (capped ? `больше ${text}` : `всего ${text}`),
  search: 'Имя, Telegram id или номер платежа',
  filterState: 'Состояние',
  filters: {
    all: 'Все',
    pending: 'Ожидают',
    paid: 'Оплачены',
    failed: 'Не оплачены',
    review: 'На разборе',
  },
  provider: 'Способ оплаты',
  allProviders: 'Все способы оплаты',
  amount: 'Сумма',
  what: 'Куплено',
  noneYet: 'Платежей пока нет',
  noneYetHint: 'Они появятся, когда кто-нибудь начнёт платить. Можно отправить ссылку на оплату.',
  details: (amount, user) => `${amount} от ${user}`,
  id: 'Номер платежа',
  externalId: 'Номер у провайдера',
  days: 'Дней',
  source: 'Начат',
  sources: { bot: 'в боте', site: 'на сайте', admin: 'в панели' },
  paidAt: 'Оплачен',
  refundedAt: 'Возвращён',
  failedReason: 'Почему не оплачен',
  nextCheck: 'Следующий запрос',
  checks: 'Запросов сделано',
  deletedUser: 'Пользователь удалён',
  renewal: 'Продление подписки',
  topUp: 'Дополнительный трафик для подписки',
  traffic: (pack) => `трафик: ${pack}`,
  bought: 'Трафик',
  reviewNote: 'Нужно разобрать:',
  payUrl: 'Ссылка на оплату',
  openUser: 'Открыть пользователя',
  check: 'Проверить оплату',
  checkPending: (n) => `Проверить ${payments(n)}`,
  checked: {
    pending: 'Пока не оплачен',
    paid: 'Оплачен: доступ выдан',
    failed: 'Не оплачен',
    unanswered: 'Провайдер не ответил: повторите позже',
  },
  checkedMany: (paid, failed, pending, unanswered) =>
    `Оплачено: ${paid}, не оплачено: ${failed}, ожидают: ${pending}${unanswered > 0 ? `, провайдер не ответил: ${unanswered}` : ''}`,
  checkFailed: (n, reason) => `Не удалось узнать про ${payments(n)}: ${reason}`,
  grant: 'Выдать вручную',
  grantTitle: (amount, user) => `Выдать по платежу ${amount} от ${user}?`,
  grantText: (plan, node) =>
    `Пользователь сейчас получит «${plan}» («${node}»), что бы ни говорил провайдер. Делайте это, если видели деньги.`,
  grantTrafficText: (goods, node) =>
    `Подписка на ${node} сейчас получит это (${goods}), что бы ни говорила платёжная система. Делайте так, когда видели деньги.`,
  granted: 'Выдано',
  keep: 'Оставить выданным',
  keepTitle: (amount, user) => `Оставить платёж ${amount} от ${user}?`,
  keepText: 'Он остаётся оплаченным, доступ у пользователя сохраняется, разбор заканчивается.',
  keepTrafficText:
    'Он остаётся оплаченным, трафик у пользователя сохраняется, разбор заканчивается.',
  kept: 'Разбор закончен',
  refund: 'Отметить возврат',
  refundTitle: (amount, user) => `Отметить возврат: ${amount} от ${user}`,
  refundText: 'Это только запись о возврате: сами деньги сначала верните у провайдера.',
  revoke: 'Забрать доступ, который он дал',
  revokeHint: 'Купленная подписка закончится; у продления вычтутся его дни.',
  revokeTraffic: 'Забрать то, что осталось от трафика',
  revokeTrafficHint:
    'Дни подписки остаются. Если израсходовано больше, чем останется, трафик сразу закончится.',
  refunded: 'Возврат отмечен',
  actionsOf: (amount, user) => `Действия: ${amount} от ${user}`,
  orphans: 'Деньги без платежа',
  orphansText:
    'Эти деньги есть у провайдера, но ни один платёж здесь их не объясняет. Узнайте, чьи они, выдайте доступ или верните деньги, затем отметьте.',
  found: 'Найдено',
  unknownAmount: 'не указана',
  resolve: 'Разобрано',
  resolveTitle: (id) => `Отметить ${id} как разобранное?`,
  resolveText: 'Строка исчезнет из списка. Доступ и деньги это не меняет.',
  resolved: 'Отмечено',
}
