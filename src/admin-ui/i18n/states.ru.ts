/** States of nodes and payments, which several screens show. */
import type { StatesTexts } from './states.en.ts'

export const statesRu: StatesTexts = {
  unpayable: 'Продажи включены, но ни один способ оплаты не работает.',
  node: {
    ok: 'Работает',
    external: 'Без наблюдения',
    off: 'Выключен',
    pending: 'Ждёт настройки',
    failed: 'Настройка не удалась',
    error: 'Не работает',
    key: 'Другой ключ',
    blocked: 'Синхр. остановлена',
  },
  payment: {
    pending: 'Ожидает',
    paid: 'Оплачен',
    failed: 'Не оплачен',
    refunded: 'Возвращён',
    review: 'На разборе',
  },
}
