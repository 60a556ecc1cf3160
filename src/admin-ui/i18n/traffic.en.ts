/** Traffic. */
import { plural } from '#src/admin-ui/i18n.ts'

export const trafficEn = {
  title: 'Traffic',
  sub: (total: string) => `${total} in all subscriptions`,
  byDay: 'Traffic by day',
  down: 'Downloaded',
  up: 'Uploaded',
  total: 'Total',
  share: 'Share',
  shareOf: (name: string) => `Share of ${name}`,
  period: 'Period',
  days: (n: number) => plural('en', n, { one: 'day', other: 'days' }),
  top: 'Subscriptions with the most traffic',
  user: 'User',
  none: 'No traffic yet',
  noneHint: 'It shows here as soon as a subscription is used.',
}

export type TrafficTexts = typeof trafficEn
