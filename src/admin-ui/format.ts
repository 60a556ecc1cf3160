/** Numbers, sizes, money and times in the language of the panel. */
import { boot } from './boot.ts'
import { lang } from './i18n.ts'

const made = new Map<string, unknown>()

/** Intl objects are slow to make: one per form. */
function once<T>(key: string, make: () => T): T {
  if (!made.has(key)) made.set(key, make())
  return made.get(key) as T
}

const dates = (key: string, options: Intl.DateTimeFormatOptions) =>
  once(key, () => new Intl.DateTimeFormat(lang(), { timeZone: boot.timezone, ...options }))

/** The moment of a timestamp of the API, which is UTC without saying so. */
export const moment = (timestamp: string) => new Date(`${timestamp}Z`)

/** The moment as the API wants it. */
export const toTimestamp = (date: Date) => date.toISOString().slice(0, 19)

/** `22 Nov 2026` */
export const date = (timestamp: string) =>
  dates('date', { dateStyle: 'medium' }).format(moment(timestamp))

/** `22 Nov 2026, 14:05` */
export const dateTime = (timestamp: string) =>
  dates('dateTime', { dateStyle: 'medium', timeStyle: 'short' }).format(moment(timestamp))

/** `Sunday, 22 November` */
export const longDay = (at: Date) =>
  dates('longDay', { weekday: 'long', day: 'numeric', month: 'long' }).format(at)

/** `22 Nov` of a day `YYYY-MM-DD`, which has no zone. */
export const shortDay = (day: string) =>
  dates('shortDay', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(`${day}T00:00:00Z`),
  )

/** Units, and from how many seconds on they are used: what ends in 45 days does not end `next mo.`. */
const STEPS: [unit: Intl.RelativeTimeFormatUnit, seconds: number, from: number][] = [
  ['year', 31_536_000, 2 * 31_536_000],
  ['month', 2_592_000, 90 * 86_400],
  ['day', 86_400, 86_400],
  ['hour', 3600, 3600],
  ['minute', 60, 60],
]

/** `5 min ago`, `in 45 days`. */
export function relative(timestamp: string): string {
  const seconds = (moment(timestamp).getTime() - Date.now()) / 1000
  const format = once('relative', () => {
    return new Intl.RelativeTimeFormat(lang(), { numeric: 'auto', style: 'short' })
  })
  for (const [unit, size, from] of STEPS) {
    if (Math.abs(seconds) >= from) return format.format(Math.trunc(seconds / size), unit)
  }
  return format.format(Math.trunc(seconds), 'second')
}

/** `3 h`, `12 min`: how long ago, without saying "ago"; for narrow columns. */
export function age(timestamp: string): string {
  const seconds = Math.max(0, (Date.now() - moment(timestamp).getTime()) / 1000)
  return duration(seconds)
}

/** `2 d`, `3 h`, `12 min`, `40 s`: the largest unit. */
export function duration(seconds: number): string {
  const [unit, size] = STEPS.slice(2).find(([, step]) => seconds >= step) ?? ['second', 1]
  return once(`unit ${unit}`, () => {
    return new Intl.NumberFormat(lang(), { style: 'unit', unit, unitDisplay: 'short' })
  }).format(Math.floor(seconds / size))
}

/** `12,345` */
export const number = (n: number) => once('number', () => new Intl.NumberFormat(lang())).format(n)

/** `12.3K`: axes and other narrow places. */
export const compact = (n: number) =>
  once('compact', () => new Intl.NumberFormat(lang(), { notation: 'compact' })).format(n)

/** `12%` of a share from 0 to 1; `digits` after the point. */
export const percent = (share: number, digits = 0) =>
  once(`percent ${digits}`, () => {
    return new Intl.NumberFormat(lang(), { style: 'percent', maximumFractionDigits: digits })
  }).format(share)

const ISO_CURRENCY = /^[A-Z]{3}$/

/** Whole units of a currency: `₽1,490`. A currency that is no ISO code stands behind the number. */
export function money(amount: number, currency = boot.currency): string {
  if (!ISO_CURRENCY.test(currency)) return `${number(amount)} ${currency}`
  return once(`money ${currency}`, () => {
    const options = { style: 'currency', currency, maximumFractionDigits: 0 } as const
    return new Intl.NumberFormat(lang(), { ...options, currencyDisplay: 'narrowSymbol' })
  }).format(amount)
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte']

/** `1.5 GB`, by 1024 as the service counts. */
export const bytes = (n: number) => size(n, '')

/** `1.5 MB/s` of bytes per second. */
export const rate = (n: number) => size(n, '-per-second')

function size(n: number, per: string): string {
  let value = n
  let step = 0
  while (value >= 1024 && step < UNITS.length - 1) {
    value /= 1024
    step++
  }
  const unit = `${UNITS[step]}${per}`
  const digits = step === 0 ? 0 : 1
  return once(`bytes ${unit}`, () => {
    // "short" would say "0 byte", and English "narrow" says "0B".
    const unitDisplay = step === 0 ? 'narrow' : 'short'
    const options = { style: 'unit', unit, unitDisplay } as const
    return new Intl.NumberFormat(lang(), { ...options, maximumFractionDigits: digits })
  })
    .format(value)
    .replace(/(\d)B(?=$|\/)/, '$1 B')
}

/** How people call a user who may have no name: `@anna`, `Anna Berg` or `tg12345`. */
export const userName = (user: {
  username: string | null
  name?: string | null | undefined
  tg_id: number
}) => (user.username ? `@${user.username}` : user.name || `tg${user.tg_id}`)
