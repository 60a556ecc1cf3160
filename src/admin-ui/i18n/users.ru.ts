/** The users and what is done to many of them at once. */
import { plural } from '#src/admin-ui/i18n.ts'
import type { UsersTexts } from './users.en.ts'

const to = (n: number) =>
  plural('ru', n, { one: 'пользователю', few: 'пользователям', other: 'пользователям' })
const of = (n: number) =>
  plural('ru', n, { one: 'пользователя', few: 'пользователей', other: 'пользователей' })

export const usersRu: UsersTexts = {
  title: 'Пользователи',
  sub: (_n, text, capped) => (capped ? `больше ${text}` : `всего ${text}`),
  search: 'Имя, Telegram id, почта, номер заказа или клиента',
  filterState: 'Доступ',
  states: {
    all: 'Все',
    active: 'Активные',
    held: 'На паузе',
    disabled: 'Отключён',
    expired: 'Истёк',
    none: 'Нет доступа',
  },
  filterBan: 'Блокировка',
  anyBan: 'С блокировкой и без',
  banned: 'Заблокированные',
  notBanned: 'Не заблокированные',
  filterTag: 'Метка',
  anyTag: 'Любая метка',
  newCustomer: 'Новый клиент',
  newCustomerText: 'Для тех, кто приходит не через бота. Всё можно оставить пустым.',
  create: 'Создать',
  created: 'Клиент создан, у него своя ссылка',
  tags: 'Метки',
  csv: 'CSV',
  subscriptions: 'Подписки',
  activeAndHeld: (active, held) => (held === 0 ? String(active) : `${active} + ${held} на паузе`),
  nextEnd: 'До конца',
  devices: 'Устройства',
  note: 'Заметка',
  noneYet: 'Пользователей пока нет',
  noneYetHint: 'Они появятся, когда запустят бота, откроют сайт или получат доступ от вас.',
  bulk: {
    grant: 'Выдать',
    extend: 'Продлить',
    ban: 'Заблокировать',
    unban: 'Разблокировать',
    grantTitle: (n) => `Выдать доступ ${to(n)}`,
    grantText: 'Каждый получит ещё одну подписку.',
    extendTitle: (n) => `Продлить доступ ${to(n)}`,
    extendText:
      'Дни добавятся ко всем действующим подпискам и подпискам на паузе. Закончившиеся не меняются.',
    groupTitle: (n) => `Группа серверов для ${of(n)}`,
    groupText:
      'Все их действующие подписки и подписки на паузе будут работать на её серверах по той же ссылке.',
    banTitle: (n) => `Заблокировать ${of(n)}?`,
    banText:
      'Их ссылки покажут пустой список, устройства отключатся сейчас, продажи им прекратятся. Подписки сохранятся и заработают после разблокировки.',
    unbanTitle: (n) => `Разблокировать ${of(n)}?`,
    unbanText: 'Их подписки снова заработают.',
    done: (n) => `Сделано для ${of(n)}`,
    refusedTitle: (n) => `Не сделано для ${of(n)}`,
    refusedText: (n) => `Сделано для ${of(n)}. Остальные остались выбранными:`,
    tooMany: (n) => `Не больше ${n} пользователей за раз. Выберите меньше.`,
  },
}
