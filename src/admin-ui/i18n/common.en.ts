/** Words that every screen may need. */
import { plural } from '#src/admin-ui/i18n.ts'

export const commonEn = {
  noAnswer: 'The service does not answer. Try again.',
  maybeDone: 'No answer came: it may have been done. Look before you send it again.',
  againTitle: 'Send it again?',
  againText:
    'No answer came to the first one. If it was done all the same, it is done twice now: look first.',
  again: 'Send again',
  failed: (status: number) => `The request failed (${status}).`,
  tooMany: (seconds: number) =>
    `Too many attempts. Try again in ${
      seconds < 7200
        ? plural('en', seconds, { one: 'second', other: 'seconds' })
        : plural('en', Math.ceil(seconds / 3600), { one: 'hour', other: 'hours' })
    }.`,
  retry: 'Try again',
  close: 'Close',
  cancel: 'Cancel',
  save: 'Save',
  saved: 'Saved',
  add: 'Add',
  edit: 'Edit',
  remove: 'Delete',
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'The browser did not let us copy. Select the text and copy it.',
  qrFailed: 'The QR code could not be drawn. Copy the text beside it instead, or try again.',
  show: 'Show',
  hide: 'Hide',
  more: 'More',
  search: 'Search',
  clear: 'Clear filters',
  none: 'Nothing found',
  noneHint: 'Try other words or clear the filters.',
  loading: 'Loading',
  loadFailed: 'Could not load',
  previous: 'Previous',
  next: 'Next',
  total: (n: string, capped: boolean) => (capped ? `more than ${n}` : `${n} in all`),
  selected: (n: number, hidden: number) =>
    `${n} selected${hidden > 0 ? `, ${hidden} of them not shown` : ''}`,
  selectAll: 'Select all on this page',
  selectRow: (name: string) => `Select ${name}`,
  unselect: 'Clear selection',
  sortBy: (name: string) => `Sort by ${name}`,
  discardTitle: 'Discard what you typed?',
  discard: 'Discard',
  typeToConfirm: (text: string) => `Type ${text} to confirm`,
  yes: 'Yes',
  no: 'No',
  on: 'On',
  off: 'Off',
  optional: 'optional',
  user: 'User',
  node: 'Node',
  plan: 'Plan',
  status: 'Status',
  created: 'Created',
  move: (name: string) => `Move ${name}`,
  moveHint: 'Drag, or press the arrow keys',
  movedTo: (name: string, at: number, of: number) => `${name}: place ${at} of ${of}`,
  days: (n: number) => plural('en', n, { one: 'day', other: 'days' }),
  /** What lists leave direct, by the preset's name. */
  routingPresets: { off: 'Nothing', ru: 'Russia', ir: 'Iran', cn: 'China' },
}

export type CommonTexts = typeof commonEn
