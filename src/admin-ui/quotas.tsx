/** How much traffic a plan or a subscription has and has used: in words, as a bar, and as fields of a form. */
import type { api, Row } from './api.ts'
import { bytes, date, number } from './format.ts'
import { quotasEn } from './i18n/quotas.en.ts'
import { quotasRu } from './i18n/quotas.ru.ts'
import { catalogue } from './i18n.ts'
import { Meter } from './kit/badge.tsx'
import { type FieldProps, NumberField, SelectField } from './kit/field.tsx'
import type { Form } from './kit/form.tsx'

const words = catalogue({ en: quotasEn, ru: quotasRu })

export type QuotaPeriod = keyof typeof quotasEn.periods
type Subscription = Row<typeof api.subscriptions.$get>

export const GB = 1024 ** 3
/** As much as a plan and a subscription may have, and be given beside it. */
const MOST_GB = 1_000_000

/** `100 GB a month` */
export function quotaText(gb: number, period: QuotaPeriod): string {
  const t = words()
  return t.per[period](gbText(gb))
}

/** `100 GB` */
export const gbText = (gb: number): string => words().gb(number(gb))

/** What a subscription has used of what it may, with the day of the next period; of one without a limit what it has used. */
export function Usage({ subscription }: { subscription: Subscription }) {
  const t = words()
  const { up, down, quota_bytes, used_bytes = 0, extra_bytes = 0, resets_at } = subscription
  if (quota_bytes === undefined) return <>{bytes(up + down)}</>
  const allowed = quota_bytes + extra_bytes
  const used = t.used(bytes(used_bytes), bytes(allowed))
  return (
    <span class="usage">
      <span class="num">{used}</span>
      <Meter share={used_bytes / allowed} label={used} warn={0.8} />
      {resets_at && <small class="muted">{t.resets(date(resets_at))}</small>}
    </span>
  )
}

/** So many GB; null while it is empty. */
export const GbField = (p: FieldProps<number | null> & { min: number }) => (
  <NumberField {...p} unit={words().gbUnit} max={MOST_GB} />
)

export interface QuotaValues {
  /** Null: unlimited. */
  quota_gb: number | null
  quota_period: QuotaPeriod
}

/** How much, and from when it counts again. */
export function QuotaFields({ field }: { field: Form<QuotaValues>['field'] }) {
  const t = words()
  const { value: gb } = field('quota_gb')
  const periods = Object.keys(t.periods) as QuotaPeriod[]
  return (
    <>
      <GbField label={t.traffic} hint={t.trafficHint} min={1} {...field('quota_gb')} />
      {gb !== null && (
        <SelectField
          label={t.period}
          options={periods.map((value) => ({ value, label: t.periods[value] }))}
          {...field('quota_period')}
        />
      )}
    </>
  )
}

/** What the API is told of a quota: with none there is no period either. */
export const quotaSent = ({ quota_gb, quota_period }: QuotaValues): QuotaValues =>
  quota_gb === null ? { quota_gb, quota_period: 'none' } : { quota_gb, quota_period }
