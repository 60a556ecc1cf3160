/** What an admin does to a payment: asks again, grants by hand, keeps, notes a refund. */
import { api, ok } from '#src/admin-ui/api.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { confirm, Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { Switch } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { messageOf, toast } from '#src/admin-ui/kit/toast.tsx'
import { useNodeGroups } from '#src/admin-ui/node-groups.ts'
import { checkPayment } from '#src/admin-ui/payment-check.ts'
import { invalidate, useAction } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { goodsOf, namesOf, type Payment, paymentTexts } from './texts.ts'

const one = api.payments[':payment_id']
const paramOf = (payment: Payment) => ({ payment_id: encodeURIComponent(payment.id) })

const changed = () => invalidate('payments', 'user ', 'users', 'subscriptions', 'stats')

/** Asks the provider of each payment in turn; one that can't be asked does not stop the others. */
async function checkAll(payments: Payment[]): Promise<void> {
  const t = paymentTexts()
  const found = { paid: 0, failed: 0, pending: 0, unanswered: 0 }
  const faults: string[] = []
  for (const payment of payments) {
    try {
      found[await checkPayment(payment.id)]++
    } catch (error) {
      faults.push(messageOf(error))
    }
  }
  changed()
  const { paid, failed, pending, unanswered } = found
  if (faults[0] !== undefined) toast(t.checkFailed(faults.length, faults[0]), 'bad')
  if (faults.length < payments.length) {
    toast(t.checkedMany(paid, failed, pending, unanswered), unanswered > 0 ? 'bad' : 'ok')
  }
}

export function usePaymentActions() {
  const t = paymentTexts()
  const { placeOf } = useNodeGroups()
  const check = useAction(async (payment: Payment) => {
    const found = await checkPayment(payment.id)
    toast(t.checked[found], found === 'failed' || found === 'unanswered' ? 'bad' : 'ok')
    changed()
  })
  const grant = useAction(async (payment: Payment) => {
    const title = t.grantTitle(...namesOf(payment))
    const isTraffic = payment.kind === 'traffic'
    const text = (isTraffic ? t.grantTrafficText : t.grantText)(goodsOf(payment), placeOf(payment))
    if (!(await confirm({ title, text, action: t.grant }))) return
    await ok(one.grant.$post({ param: paramOf(payment) }))
    toast(t.granted)
    changed()
  })
  const keep = useAction(async (payment: Payment) => {
    const title = t.keepTitle(...namesOf(payment))
    const text = payment.kind === 'traffic' ? t.keepTrafficText : t.keepText
    if (!(await confirm({ title, text, action: t.keep }))) return
    await ok(one.grant.$post({ param: paramOf(payment) }))
    toast(t.kept)
    changed()
  })
  const many = useAction(checkAll)
  return { check, grant, keep, many }
}

export function RefundDialog({ payment, close }: { payment: Payment; close: () => void }) {
  const t = paymentTexts()
  const form = useForm({
    initial: { revoke: false },
    send: (json) => ok(one.refunded.$post({ param: paramOf(payment), json })),
    done: () => {
      toast(t.refunded)
      changed()
      close()
    },
  })
  return (
    <Dialog title={t.refundTitle(...namesOf(payment))} onClose={close}>
      <FormBox
        form={form}
        action={t.refund}
        always
        danger
        extra={<Button onClick={close}>{common().cancel}</Button>}
      >
        <p class="t2">{t.refundText}</p>
        <Switch
          {...(payment.kind === 'traffic'
            ? { label: t.revokeTraffic, hint: t.revokeTrafficHint }
            : { label: t.revoke, hint: t.revokeHint })}
          {...form.field('revoke')}
        />
      </FormBox>
    </Dialog>
  )
}
