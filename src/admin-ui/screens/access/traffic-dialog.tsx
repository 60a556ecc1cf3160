/** Changes how much traffic one subscription has. */
import { api, ok } from '#src/admin-ui/api.ts'
import { bytes } from '#src/admin-ui/format.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { type Form, FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import {
  GB,
  GbField,
  QuotaFields,
  type QuotaPeriod,
  type QuotaValues,
  quotaSent,
} from '#src/admin-ui/quotas.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { accessChanged, nameOf, type Subscription } from './subscription.ts'
import { access } from './texts.ts'

/** Fields hold whole GB; what is left as it was is not sent. */
const wholeGb = (size: number) => Math.round(size / GB)

export function TrafficDialog(p: { subscription: Subscription; close: () => void }) {
  const t = access()
  const { subscription, close } = p
  const { uuid, quota_bytes, quota_period = 'month', used_bytes, extra_bytes = 0 } = subscription
  const form = useForm({
    initial: {
      quota_gb: quota_bytes === undefined ? null : wholeGb(quota_bytes),
      quota_period: quota_period as QuotaPeriod,
      extra_gb: wholeGb(extra_bytes) as number | null,
    },
    send: (values, { extra_gb, ...changes }) =>
      ok(
        api.subscriptions[':uuid'].$patch({
          param: { uuid },
          json: {
            ...(quota_bytes === undefined || changes.quota_gb === null
              ? quotaSent(values)
              : changes),
            ...(extra_gb !== undefined && values.quota_gb !== null && { extra_gb: extra_gb ?? 0 }),
          },
        }),
      ),
    done: () => {
      toast(common().saved)
      accessChanged()
      close()
    },
  })
  const isLimited = form.values.quota_gb !== null
  const isWhole = extra_bytes % GB === 0
  return (
    <Dialog title={t.trafficTitle(nameOf(subscription))} onClose={close}>
      <FormBox form={form} extra={<Button onClick={close}>{common().cancel}</Button>}>
        <QuotaFields field={(form as unknown as Form<QuotaValues>).field} />
        {isLimited && (
          <GbField
            label={t.extra}
            hint={isWhole ? t.extraHint : `${t.extraHint} ${t.extraNow(bytes(extra_bytes))}`}
            min={0}
            {...form.field('extra_gb')}
          />
        )}
        <div class="t2 stack">
          {used_bytes !== undefined && isLimited && <p>{t.trafficUsed(bytes(used_bytes))}</p>}
          <p>{t.trafficRenewed}</p>
        </div>
      </FormBox>
    </Dialog>
  )
}
