/** Сколько трафика у тарифов и подписок. */
import type { QuotasTexts } from './quotas.en.ts'

export const quotasRu: QuotasTexts = {
  gb: (n) => `${n} ГБ`,
  per: {
    none: (size) => size,
    day: (size) => `${size} в день`,
    week: (size) => `${size} в неделю`,
    month: (size) => `${size} в месяц`,
    rolling: (size) => `${size} в месяц`,
  },
  traffic: 'Трафик',
  trafficHint: 'Пусто: без ограничений',
  gbUnit: 'ГБ',
  period: 'Считается заново',
  periods: {
    none: 'Никогда: на весь срок',
    day: 'Каждый день',
    week: 'По понедельникам',
    month: 'Первого числа',
    rolling: 'Каждый месяц в свой день',
  },
  used: (used, allowed) => `${used} из ${allowed}`,
  resets: (date) => `заново с ${date}`,
}
