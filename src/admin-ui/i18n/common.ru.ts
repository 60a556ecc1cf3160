/** Words that every screen may need. */
import { plural } from '#src/admin-ui/i18n.ts'
import type { CommonTexts } from './common.en.ts'

export const commonRu: CommonTexts = {
  noAnswer: 'Сервис не отвечает. Попробуйте ещё раз.',
  maybeDone: 'Ответ не пришёл: действие могло быть выполнено. Проверьте, прежде чем повторять.',
  againTitle: 'Отправить ещё раз?',
  againText:
    'На первый запрос ответа не было. Если он всё же выполнен, действие повторится: сначала проверьте.',
  again: 'Отправить ещё раз',
  failed: (status) => `Запрос не выполнен (${status}).`,
  tooMany: (seconds) =>
    `Слишком много попыток. Повторите через ${
      seconds < 7200
        ? plural('ru', seconds, { one: 'секунду', few: 'секунды', other: 'секунд' })
        : plural('ru', Math.ceil(seconds / 3600), { one: 'час', few: 'часа', other: 'часов' })
    }.`,
  retry: 'Повторить',
  close: 'Закрыть',
  cancel: 'Отмена',
  save: 'Сохранить',
  saved: 'Сохранено',
  add: 'Добавить',
  edit: 'Изменить',
  remove: 'Удалить',
  copy: 'Скопировать',
  copied: 'Скопировано',
  copyFailed: 'Браузер не дал скопировать. Выделите текст и скопируйте его.',
  qrFailed: 'QR-код не получилось нарисовать. Скопируйте текст рядом или повторите.',
  show: 'Показать',
  hide: 'Скрыть',
  more: 'Ещё',
  search: 'Поиск',
  clear: 'Сбросить фильтры',
  none: 'Ничего не найдено',
  noneHint: 'Измените запрос или сбросьте фильтры.',
  loading: 'Загрузка',
  loadFailed: 'Не удалось загрузить',
  previous: 'Назад',
  next: 'Вперёд',
  total: (n, capped) => (capped ? `больше ${n}` : `всего ${n}`),
  selected: (n, hidden) => `Выбрано: ${n}${hidden > 0 ? `, из них не на экране: ${hidden}` : ''}`,
  selectAll: 'Выбрать всё на странице',
  selectRow: (name) => `Выбрать ${name}`,
  unselect: 'Снять выбор',
  sortBy: (name) => `Сортировать: ${name}`,
  discardTitle: 'Не сохранять введённое?',
  discard: 'Не сохранять',
  typeToConfirm: (text) => `Введите ${text} для подтверждения`,
  yes: 'Да',
  no: 'Нет',
  on: 'Вкл.',
  off: 'Выкл.',
  optional: 'необязательно',
  user: 'Пользователь',
  node: 'Сервер',
  plan: 'Тариф',
  status: 'Состояние',
  created: 'Создано',
  move: (name) => `Переместить: ${name}`,
  moveHint: 'Перетащите или нажимайте стрелки',
  movedTo: (name, at, of) => `${name}: место ${at} из ${of}`,
  days: (n) => plural('ru', n, { one: 'день', few: 'дня', other: 'дней' }),
  /** What lists leave direct, by the preset's name. */
  routingPresets: { off: 'Ничего', ru: 'Россия', ir: 'Иран', cn: 'Китай' },
}
