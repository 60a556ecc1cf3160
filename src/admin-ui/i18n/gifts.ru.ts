/** The gift codes. */
import { plural } from '#src/admin-ui/i18n.ts'
import type { GiftsTexts } from './gifts.en.ts'

const codes = (n: number) => plural('ru', n, { one: 'код', few: 'кода', other: 'кодов' })

export const giftsRu: GiftsTexts = {
  title: 'Подарочные коды',
  sub: (text, capped) => (capped ? `больше ${text}` : `всего ${text}`),
  search: 'Код, Telegram id или @имя получателя',
  filterState: 'Состояние',
  filters: {
    all: 'Все',
    unused: 'Свободные',
    used: 'Использованы',
    expired: 'Истекли',
    revoked: 'Отозваны',
  },
  states: { unused: 'Свободен', used: 'Использован', expired: 'Истёк', revoked: 'Отозван' },
  code: 'Код',
  gives: 'Даёт',
  usedBy: 'Кто использовал',
  usedAt: (when) => `использован ${when}`,
  expires: 'Действует до',
  noEnd: 'без срока',
  copyLink: (code) => `Скопировать ссылку ${code}`,
  copyCode: (code) => `Скопировать код ${code}`,
  create: 'Создать коды',
  createText: 'Каждый код один раз даёт свой тариф тому, кто введёт его в боте.',
  count: 'Сколько',
  codesUnit: 'шт.',
  expiresIn: 'Срок действия',
  expiresHint: 'Пусто: пока не использован или не отозван.',
  created: (n) => `Создано: ${codes(n)}`,
  noLinks: 'Ссылок пока нет, потому что бот не настроен: пользователи вводят код.',
  copyAll: (n) => `Скопировать ${codes(n)}`,
  csv: 'CSV',
  exported: (n) => `Сохранено: ${codes(n)}`,
  revoke: 'Отозвать',
  revokeOne: (code) => `Отозвать ${code}`,
  revokeTitle: (code) => `Отозвать подарочный код ${code}?`,
  revokeText: (gift) =>
    `Он давал: ${gift}. Тот, у кого он есть, больше не сможет его использовать.`,
  revokeManyTitle: (n) => `Отозвать ${codes(n)}?`,
  revokeManyText: 'Те, у кого они есть, больше не смогут их использовать.',
  revoked: (n) => `Отозвано: ${codes(n)}`,
  revokeFailed: (n, reason) => `Не отозвано: ${codes(n)}. ${reason}`,
  noneYet: 'Подарочных кодов пока нет',
  noneYetHint: 'Создайте их, чтобы дарить доступ: один код для одного пользователя.',
}
