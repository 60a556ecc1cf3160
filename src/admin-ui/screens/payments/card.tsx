/** All that is known of one payment, and what can be done with it. */

import { useState } from 'preact/hooks'
import { bytes, dateTime, money, number, relative, userName } from '#src/admin-ui/format.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { CopyLine } from '#src/admin-ui/kit/copy-line.tsx'
import { Drawer } from '#src/admin-ui/kit/dialog.tsx'
import { Facts, Note } from '#src/admin-ui/kit/page.tsx'
import { useNodeGroups } from '#src/admin-ui/node-groups.ts'
import { Said } from '#src/admin-ui/refusals.ts'
import { setQuery } from '#src/admin-ui/router.ts'
import { PaymentBadge } from '#src/admin-ui/states.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { RefundDialog, usePaymentActions } from './actions.tsx'
import { allowed } from './allowed.ts'
import { namesOf, type Payment, paymentTexts } from './texts.ts'

function PaymentFacts({ payment }: { payment: Payment }) {
  const t = paymentTexts()
  const words = common()
  const { placeOf } = useNodeGroups()
  const { paid_at, refunded_at, failed_reason, next_check_at, external_id } = payment
  const shown = (title: string, value: string | null) => value !== null && ([title, value] as const)
  const time = (title: string, value: string | null) => shown(title, value && dateTime(value))
  return (
    <Facts
      list={[
        [words.user, payment.deleted_user ? t.deletedUser : userName(payment)],
        [words.node, placeOf(payment)],
        [words.plan, payment.plan_label],
        payment.kind === undefined && [t.days, number(payment.days)],
        payment.extra_bytes !== undefined && [
          t.bought,
          `${payment.pack_label}: ${bytes(payment.extra_bytes)}`,
        ],
        [t.amount, money(payment.amount, payment.currency)],
        [t.provider, payment.provider_label],
        [t.source, t.sources[payment.source]],
        [words.created, dateTime(payment.created_at)],
        time(t.paidAt, paid_at),
        time(t.refundedAt, refunded_at),
        shown(t.failedReason, failed_reason),
        shown(t.nextCheck, next_check_at && relative(next_check_at)),
        payment.checks > 0 && [t.checks, number(payment.checks)],
        [t.id, <span class="mono">{payment.id}</span>],
        external_id !== '' && [t.externalId, <span class="mono">{external_id}</span>],
      ]}
    />
  )
}

function Actions({ payment, refund }: { payment: Payment; refund: () => void }) {
  const t = paymentTexts()
  const can = allowed(payment)
  const { check, grant, keep } = usePaymentActions()
  return (
    <>
      {can.refund && <Button onClick={refund}>{t.refund}</Button>}
      {can.grant && (
        <Button busy={grant.busy} onClick={() => grant.run(payment)}>
          {t.grant}
        </Button>
      )}
      {can.keep && (
        <Button kind="primary" busy={keep.busy} onClick={() => keep.run(payment)}>
          {t.keep}
        </Button>
      )}
      {can.check && (
        <Button kind="primary" icon="refresh" busy={check.busy} onClick={() => check.run(payment)}>
          {t.check}
        </Button>
      )}
    </>
  )
}

export function PaymentCard({ payment, close }: { payment: Payment; close: () => void }) {
  const t = paymentTexts()
  const [refunding, setRefunding] = useState(false)
  return (
    <Drawer
      title={t.details(...namesOf(payment))}
      onClose={close}
      foot={<Actions payment={payment} refund={() => setRefunding(true)} />}
    >
      <div class="stack">
        <div class="row between">
          <PaymentBadge payment={payment} />
          {!payment.deleted_user && (
            <Button
              small
              icon="user"
              onClick={() => {
                close()
                setQuery({ user: payment.tg_id })
              }}
            >
              {t.openUser}
            </Button>
          )}
        </div>
        {payment.review_reason !== null && (
          <Note tone="warn">
            {t.reviewNote} <Said text={payment.review_reason} />.
          </Note>
        )}
        {payment.renews_uuid !== null && (
          <Note>{payment.kind === 'traffic' ? t.topUp : t.renewal}</Note>
        )}
        {payment.status === 'pending' && payment.pay_url !== null && (
          <CopyLine label={t.payUrl} text={payment.pay_url} />
        )}
        <PaymentFacts payment={payment} />
      </div>
      {refunding && <RefundDialog payment={payment} close={() => setRefunding(false)} />}
    </Drawer>
  )
}
