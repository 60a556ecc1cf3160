/** The subscriptions. */
import type { SubscriptionsTexts } from './subscriptions.en.ts'

export const subscriptionsRu: SubscriptionsTexts = {
  title: 'Подписки',
  sub: (text, capped) => (capped ? `больше ${text}` : `всего ${text}`),
  search: 'Имя, Telegram id или номер клиента',
  filterState: 'Состояние',
  states: {
    all: 'Все',
    active: 'Активные',
    limited: 'Без трафика',
    held: 'На паузе',
    disabled: 'Отключена',
    expired: 'Истёкшие',
    revoked: 'Отозванные',
  },
  filterEnd: 'Конец',
  anyEnd: 'Любой конец',
  endsWithin: (days) => `Кончаются: ${days}`,
  access: 'Доступ',
  end: 'Конец',
  left: 'Дней',
  traffic: 'Трафик',
  noneYet: 'Подписок пока нет',
  noneYetHint: 'Они появятся с первой продажей, подарочным кодом или выдачей.',
}
