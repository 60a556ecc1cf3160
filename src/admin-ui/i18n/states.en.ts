/** States of nodes and payments, which several screens show. */

export const statesEn = {
  unpayable: 'Sales are on, but no payment method works.',
  node: {
    ok: 'Works',
    external: 'Not watched',
    off: 'Off',
    pending: 'Waits to be set up',
    failed: 'Setup failed',
    error: 'Does not work',
    key: 'Other host key',
    blocked: 'Sync stopped',
  },
  payment: {
    pending: 'Pending',
    paid: 'Paid',
    failed: 'Not paid',
    refunded: 'Refunded',
    review: 'Needs review',
  },
}

export type StatesTexts = typeof statesEn
