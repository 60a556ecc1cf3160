/** Days in the words of a language. */
import type { Lang } from './lang.ts'

/** Making one takes 30 µs; a process has one time zone. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** The locale of dates in a language: English without a country is that of America, where the month comes first. */
export const dateLocale = (lang: Lang): string => (lang === 'en' ? 'en-GB' : lang)

/** The day of an instant in a time zone, its month in words: `13 December 2026`, `13 декабря 2026 г.` */
export function dayInWords(lang: Lang, timeZone: string, date: Date): string {
  const key = `${lang} ${timeZone}`
  let format = formats.get(key)
  if (!format) {
    format = new Intl.DateTimeFormat(dateLocale(lang), { timeZone, dateStyle: 'long' })
    formats.set(key, format)
  }
  return format.format(date)
}
