/** The gift codes. */
import { plural } from '#src/admin-ui/i18n.ts'

const codes = (n: number) => plural('en', n, { one: 'code', other: 'codes' })

export const giftsEn = {
  title: 'Gift codes',
  sub: (text: string, capped: boolean) => (capped ? `more than ${text}` : `${text} in all`),
  search: 'Code, Telegram id or @name of who used it',
  filterState: 'State',
  filters: { all: 'All', unused: 'Unused', used: 'Used', expired: 'Expired', revoked: 'Revoked' },
  states: { unused: 'Unused', used: 'Used', expired: 'Expired', revoked: 'Revoked' },
  code: 'Code',
  gives: 'Gives',
  usedBy: 'Used by',
  usedAt: (when: string) => `used ${when}`,
  expires: 'Valid until',
  noEnd: 'no end',
  copyLink: (code: string) => `Copy the link of ${code}`,
  copyCode: (code: string) => `Copy the code ${code}`,
  create: 'Create codes',
  createText: 'Each code gives its plan once, to whoever redeems it in the bot.',
  count: 'How many',
  codesUnit: 'codes',
  expiresIn: 'Valid for',
  expiresHint: 'Empty: until used or revoked.',
  created: (n: number) => `${codes(n)} created`,
  noLinks: 'There are no links yet because no bot is set up: users type the code.',
  copyAll: (n: number) => `Copy ${codes(n)}`,
  csv: 'CSV',
  exported: (n: number) => `${codes(n)} saved`,
  revoke: 'Revoke',
  revokeOne: (code: string) => `Revoke ${code}`,
  revokeTitle: (code: string) => `Revoke the gift code ${code}?`,
  revokeText: (gift: string) => `It gave ${gift}. Whoever has it can not use it any more.`,
  revokeManyTitle: (n: number) => `Revoke ${codes(n)}?`,
  revokeManyText: 'Whoever has them can not use them any more.',
  revoked: (n: number) => `${codes(n)} revoked`,
  revokeFailed: (n: number, reason: string) => `${codes(n)} not revoked: ${reason}`,
  noneYet: 'No gift codes yet',
  noneYetHint: 'Create some to give away access, one code for one user.',
}

export type GiftsTexts = typeof giftsEn
