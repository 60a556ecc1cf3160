/** Traffic as customers read it: in MB or GB of 1024s, no larger unit, so that what is sold is said by the number that it has. */

const MB = 1024 ** 2
export const GB = 1024 ** 3

/** At most one digit after the point. */
const formatted = (value: number, lang: string, unit?: 'megabyte' | 'gigabyte'): string =>
  new Intl.NumberFormat(lang, {
    ...(unit && { style: 'unit', unit, unitDisplay: 'short' }),
    maximumFractionDigits: 1,
  }).format(value)

/** `12.5 GB`, `512 MB`; `12,5 ГБ` */
export const sizeText = (bytes: number, lang: string): string =>
  bytes < GB ? formatted(bytes / MB, lang, 'megabyte') : formatted(bytes / GB, lang, 'gigabyte')

/** A part of a size beside the whole, which says the unit of both where they have the same: `12.5` and `100 GB`. */
export function partTexts(
  part: number,
  whole: number,
  lang: string,
): [part: string, whole: string] {
  const divisor = whole < GB ? MB : GB
  const isAlike = part === 0 || part < GB === whole < GB
  const partText = isAlike ? formatted(part / divisor, lang) : sizeText(part, lang)
  return [partText, sizeText(whole, lang)]
}
