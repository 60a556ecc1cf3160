/** Numbers as the interface and people read them. */

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** Bytes in base 1024: `512 B`, `1.5 KB`; the largest unit is TB. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit++
  }
  return unit === 0 ? `${Math.trunc(value)} B` : `${value.toFixed(1)} ${UNITS[unit]}`
}

/** `<d>д <h>ч`, `<h>ч <m>м` or `<m>м`; `—` when unknown. */
export function formatUptime(seconds: number | null): string {
  if (seconds === null) return '—'
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor((seconds % 86_400) / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  if (days > 0) return `${days}д ${hours}ч`
  if (hours > 0) return `${hours}ч ${minutes}м`
  return `${minutes}м`
}

/** `<used> / <total> MB`; `—` when either is unknown. */
export function formatMemory(usedMb: number | null, totalMb: number | null): string {
  return usedMb === null || totalMb === null ? '—' : `${usedMb} / ${totalMb} MB`
}

/** `1 590 ₽`; `1590 XYZW` where the currency is none that Intl knows the form of. */
export function formatPrice(price: number, currency: string, lang: string): string {
  if (!/^[A-Za-z]{3}$/.test(currency)) return `${price} ${currency}`
  return new Intl.NumberFormat(lang, {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: 0,
  }).format(price)
}

/** What another machine says, as one line for people and logs: what is no printable ASCII becomes a space. */
export const asciiLine = (text: string, characters: number): string =>
  text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, characters)

/** The first characters (UTF-16 units, as gateways and Telegram count them), none of them halved. */
export const cut = (text: string, characters: number): string =>
  text.slice(0, characters).replace(/[\ud800-\udbff]$/, '')
