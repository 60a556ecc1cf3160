/** Трафик. */
import { plural } from '#src/admin-ui/i18n.ts'
import type { TrafficTexts } from './traffic.en.ts'

export const trafficRu: TrafficTexts = {
  title: 'Трафик',
  sub: (total) => `${total} по всем подпискам`,
  byDay: 'Трафик по дням',
  down: 'Получено',
  up: 'Отправлено',
  total: 'Всего',
  share: 'Доля',
  shareOf: (name) => `Доля: ${name}`,
  period: 'Период',
  days: (n) => plural('ru', n, { one: 'день', few: 'дня', other: 'дней' }),
  top: 'Подписки с наибольшим трафиком',
  user: 'Пользователь',
  none: 'Трафика пока нет',
  noneHint: 'Он появится здесь, как только подпиской начнут пользоваться.',
}
