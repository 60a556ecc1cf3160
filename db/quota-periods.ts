/** When what is used counts from 0 again: never, with a day, a Monday or a month of TIMEZONE, or monthly on a day of its own. */
export const QUOTA_PERIODS = ['none', 'day', 'week', 'month', 'rolling'] as const
export type QuotaPeriod = (typeof QUOTA_PERIODS)[number]
