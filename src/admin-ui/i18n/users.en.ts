/** The users and what is done to many of them at once. */
import { plural } from '#src/admin-ui/i18n.ts'

const users = (n: number) => plural('en', n, { one: 'user', other: 'users' })

export const usersEn = {
  title: 'Users',
  sub: (n: number, text: string, capped: boolean) =>
    capped ? `more than ${text} users` : `${text} ${n === 1 ? 'user' : 'users'}`,
  search: 'Name, Telegram id, e-mail, order or client id',
  filterState: 'Access',
  states: {
    all: 'All',
    active: 'Active',
    held: 'On hold',
    disabled: 'Switched off',
    expired: 'Expired',
    none: 'No access',
  },
  filterBan: 'Ban',
  anyBan: 'Banned or not',
  banned: 'Banned',
  notBanned: 'Not banned',
  filterTag: 'Tag',
  anyTag: 'Any tag',
  newCustomer: 'New customer',
  newCustomerText: 'For people who do not come by the bot. All of it may stay empty.',
  create: 'Create',
  created: 'The customer is there, with a link of their own',
  tags: 'Tags',
  csv: 'CSV',
  subscriptions: 'Subscriptions',
  activeAndHeld: (active: number, held: number) =>
    held === 0 ? String(active) : `${active} + ${held} on hold`,
  nextEnd: 'Ends in',
  devices: 'Devices',
  note: 'Note',
  noneYet: 'No users yet',
  noneYetHint: 'They appear when they start the bot, open the site or are given access.',
  bulk: {
    grant: 'Grant',
    extend: 'Extend',
    ban: 'Ban',
    unban: 'Lift ban',
    grantTitle: (n: number) => `Grant access to ${users(n)}`,
    grantText: 'Each of them gets one more subscription.',
    extendTitle: (n: number) => `Extend the access of ${users(n)}`,
    extendText:
      'All their running and held subscriptions get these days. What has ended stays ended.',
    groupTitle: (n: number) => `Group of servers for ${users(n)}`,
    groupText:
      'All their running and held subscriptions work on its servers from now on, with the same link.',
    banTitle: (n: number) => `Ban ${users(n)}?`,
    banText:
      'Their links show an empty list, their devices are cut off now, and nothing is sold to them. What they have stays and works again when the ban is lifted.',
    unbanTitle: (n: number) => `Lift the ban of ${users(n)}?`,
    unbanText: 'What they have works again.',
    done: (n: number) => `Done for ${users(n)}`,
    refusedTitle: (n: number) => `Not done for ${users(n)}`,
    refusedText: (n: number) => `Done for ${users(n)}. The others stay selected:`,
    tooMany: (n: number) => `At most ${n} users at once. Select fewer.`,
  },
}

export type UsersTexts = typeof usersEn
