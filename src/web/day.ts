/** Days in the words of a language. */
import type { Lang } from './lang.ts'

/** Making one takes 30 µs; a process has one time zone. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** The locale of dates in a language: English without a country is that of America, where the month comes first. */
export const dateLocale = (lang: Lang): string => (lang === 'en' ? 'en-GB' : lang)

function formatted(
  lang: Lang,
  date: Date,
  options: Intl.DateTimeFormatOptions & { timeZone: string },
): string {
  const key = `${lang} ${Object.values(options)}`
  let format = formats.get(key)
  if (!format) {
    format = new Intl.DateTimeFormat(dateLocale(lang), options)
    formats.set(key, format)
  }
  return format.format(date)
}

/** The day of an instant in a time zone, its month in words: `13 December 2026`, `13 декабря 2026 г.` */
export const dayInWords = (lang: Lang, timeZone: string, date: Date): string =>
  formatted(lang, date, { timeZone, dateStyle: 'long' })

/** The same without the year, of a day that is near: `13 December` */
export const dayOfYear = (lang: Lang, timeZone: string, date: Date): string =>
  formatted(lang, date, { timeZone, day: 'numeric', month: 'long' })
