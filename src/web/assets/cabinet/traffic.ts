/** Traffic: what plans have, and what of it a subscription has used. */
import type { ShopAnswer } from '#src/http/schemas/payment.ts'
import { GB, partTexts, sizeText } from '#src/lib/sizes.ts'
import type { Subscription } from './account.ts'
import { within } from './parts.ts'
import { fill, nearDay, texts } from './words.ts'

const { lang } = document.documentElement

/** A plan's name, with its traffic where that has a limit. */
export const planName = ({ label, quota_gb, quota_period }: ShopAnswer['plans'][number]): string =>
  quota_gb && quota_period
    ? `${label} · ${fill(texts.quota[quota_period], { size: sizeText(quota_gb * GB, lang) })}`
    : label

/** When a quota begins anew, or how; a period that the subscription does not live to see is none. */
function whenText({ state, resets_at, expires_at, endless }: Subscription): string {
  if (state === 'held') return ''
  const day = resets_at && resets_at < expires_at ? nearDay(resets_at) : ''
  if (day) return fill(state === 'limited' ? texts.trafficBack : texts.trafficUntil, { day })
  // What has no end is not renewed.
  return state !== 'limited' || endless ? '' : texts.trafficRenewed
}

/** Shows in a row how much traffic is used, in words and as a bar. */
export function showTraffic(row: HTMLElement, subscription: Subscription): void {
  const { state, quota_bytes, used_bytes = 0, extra_bytes = 0 } = subscription
  if (!quota_bytes || state === 'expired') return
  const whole = quota_bytes + extra_bytes
  const [used, allowed] = partTexts(used_bytes, whole, lang)
  const bar = within<HTMLMeterElement>(row, 'meter')
  const words = [fill(texts.traffic, { used, allowed }), whenText(subscription)]
  within(row, '[data-traffic]').textContent = words.filter(Boolean).join(', ')
  bar.value = used_bytes / whole
  bar.className = state === 'limited' ? 'bad' : ''
  within(row, '.traffic').hidden = false
}
