/** The subscriptions. */
export const subscriptionsEn = {
  title: 'Subscriptions',
  sub: (text: string, capped: boolean) => (capped ? `more than ${text}` : `${text} in all`),
  search: 'User name, Telegram id or client id',
  filterState: 'State',
  states: {
    all: 'All',
    active: 'Active',
    limited: 'Used up',
    held: 'On hold',
    disabled: 'Switched off',
    expired: 'Expired',
    revoked: 'Revoked',
  },
  filterEnd: 'Ends',
  anyEnd: 'Ends any time',
  endsWithin: (days: string) => `Ends within ${days}`,
  access: 'Access',
  end: 'Ends',
  left: 'Days left',
  traffic: 'Traffic',
  noneYet: 'No subscriptions yet',
  noneYetHint: 'They appear with the first sale, gift code or grant.',
}

export type SubscriptionsTexts = typeof subscriptionsEn
