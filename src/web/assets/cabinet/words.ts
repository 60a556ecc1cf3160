/** What the cabinet's script says: the page's texts, with values, days and prices in its language. */
import type { ScriptTexts } from '#src/web/cabinet-page.ts'
import { byId } from './parts.ts'

const { dataset } = byId('cabinet')
const dayFormat = (year?: 'numeric') =>
  new Intl.DateTimeFormat(dataset.locale, {
    day: 'numeric',
    month: 'long',
    year,
    timeZone: dataset.timezone,
  })
const days = dayFormat('numeric')
const nearDays = dayFormat()

export const texts = JSON.parse(dataset.texts as string) as ScriptTexts

/** A text with values in place of their `{names}`. */
export const fill = (text: string, values: Record<string, unknown>): string =>
  text.replace(/\{(\w+)\}/g, (_, key) => String(values[key]))

/** Milliseconds of a time as the API writes it, in UTC without a zone. */
export const timeOf = (timestamp: string): number => Date.parse(`${timestamp}Z`)

export const day = (timestamp: string): string => days.format(timeOf(timestamp))

/** The same without the year, of a day that is near. */
export const nearDay = (timestamp: string): string => nearDays.format(timeOf(timestamp))

/** An amount in whole units; of a currency that is none of ISO 4217's, beside its name. */
export function priceText(price: number, currency: string): string {
  if (!/^[A-Za-z]{3}$/.test(currency)) return `${price} ${currency}`
  return new Intl.NumberFormat(document.documentElement.lang, {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: 0,
  }).format(price)
}
