/** Traffic in the words of a language: what a plan has, and what of it is used. */
import { partTexts, sizeText } from '#src/lib/sizes.ts'
import { ENDLESS, parseTimestamp } from '#src/lib/time.ts'
import { dayOfYear } from './day.ts'
import type { Lang } from './lang.ts'
import { type Strings, stringsOf } from './strings.ts'

interface SoldTraffic {
  /** Null: without a limit. */
  quotaBytes: number | null
  quotaPeriod: keyof Strings['quota']
}

/** `100 GB a month`; null where it has no limit. */
export const soldTraffic = (lang: Lang, { quotaBytes, quotaPeriod }: SoldTraffic): string | null =>
  quotaBytes === null ? null : stringsOf(lang).quota[quotaPeriod](sizeText(quotaBytes, lang))

/** `30 days · 100 GB a month`: the name of a plan, with its traffic where that has a limit. */
export const withTraffic = (lang: Lang, label: string, sold: SoldTraffic): string =>
  [label, soldTraffic(lang, sold)].filter(Boolean).join(' · ')

interface Usage {
  quotaBytes: number | null
  usedBytes: number
  extraBytes: number
  resetsAt: string | null
  limitedAt: string | null
  expiresAt: string
  /** While it is paused there is no date to name. */
  heldAt?: string | null
}

export interface UsedTraffic {
  /** `12.5 of 100 GB` */
  used: string
  /** `until 1 December`, or when it comes back; empty where there is nothing to say. */
  when: string
  /** Of what is allowed, from 0 to 1. */
  share: number
  isUsedUp: boolean
}

/** When a quota begins anew, or how; a period that the subscription does not live to see is none. */
function whenText(t: Strings, dayText: (timestamp: string) => string, usage: Usage): string {
  const { resetsAt, limitedAt, expiresAt, heldAt = null } = usage
  if (heldAt !== null) return ''
  const day = resetsAt !== null && resetsAt < expiresAt ? dayText(resetsAt) : null
  if (day !== null) return limitedAt === null ? t.trafficUntil(day) : t.trafficBack(day)
  // What has no end is not renewed.
  return limitedAt === null || expiresAt === ENDLESS ? '' : t.trafficRenewed
}

/** What of a subscription's traffic is used; null where it has no limit. */
export function usedTraffic(lang: Lang, timeZone: string, usage: Usage): UsedTraffic | null {
  const { quotaBytes, extraBytes, usedBytes, limitedAt } = usage
  if (quotaBytes === null) return null
  const t = stringsOf(lang)
  const allowed = quotaBytes + extraBytes
  const dayText = (timestamp: string) => dayOfYear(lang, timeZone, parseTimestamp(timestamp))
  return {
    used: t.trafficUsed(...partTexts(usedBytes, allowed, lang)),
    when: whenText(t, dayText, usage),
    share: Math.min(1, usedBytes / allowed),
    isUsedUp: limitedAt !== null,
  }
}

/** `12.5 of 100 GB, until 1 December` */
export const usedText = ({ used, when }: UsedTraffic): string =>
  [used, when].filter(Boolean).join(', ')
