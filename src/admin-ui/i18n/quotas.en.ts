/** How much traffic plans and subscriptions have. */
export const quotasEn = {
  gb: (n: string) => `${n} GB`,
  per: {
    none: (size: string) => size,
    day: (size: string) => `${size} a day`,
    week: (size: string) => `${size} a week`,
    month: (size: string) => `${size} a month`,
    rolling: (size: string) => `${size} a month`,
  },
  traffic: 'Traffic',
  trafficHint: 'Empty: unlimited',
  gbUnit: 'GB',
  period: 'Counts from 0 again',
  periods: {
    none: 'Never: for the whole time',
    day: 'Every day',
    week: 'Every Monday',
    month: 'Monthly, on the 1st',
    rolling: 'Monthly, on its own day',
  },
  used: (used: string, allowed: string) => `${used} of ${allowed}`,
  resets: (date: string) => `from 0 on ${date}`,
}

export type QuotasTexts = typeof quotasEn
