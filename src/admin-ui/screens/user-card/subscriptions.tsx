/** What a user has, and what can be given. */
import { useState } from 'preact/hooks'
import { daysToGo } from '#src/admin-ui/days-left.ts'
import { bytes, date } from '#src/admin-ui/format.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Empty } from '#src/admin-ui/kit/state.tsx'
import { href } from '#src/admin-ui/router.ts'
import { GrantDialog } from '#src/admin-ui/screens/access/grant-dialog.tsx'
import { PayLinkDialog } from '#src/admin-ui/screens/access/pay-link.tsx'
import { SubscriptionBadge, stateOf } from '#src/admin-ui/screens/access/state.tsx'
import type { Subscription } from '#src/admin-ui/screens/access/subscription.ts'
import { SubscriptionMenu } from '#src/admin-ui/screens/access/subscription-actions.tsx'
import { access } from '#src/admin-ui/screens/access/texts.ts'
import { type CardUser, cardTexts } from './texts.ts'

/** `21 days left · until 12 Dec 2026` */
function timeLeft(subscription: Subscription): string {
  const t = access()
  const state = stateOf(subscription)
  const end = date(subscription.expires_at)
  if (state === 'expired') return t.ended(end)
  if (state === 'held') return t.daysOnHold(daysToGo(subscription))
  if (state === 'revoked') return t.until(end)
  return `${t.daysLeft(daysToGo(subscription))} · ${t.until(end)}`
}

function Line({ subscription }: { subscription: Subscription }) {
  const { node_label, plan_label, up, down, source } = subscription
  return (
    <li>
      <div>
        <b>
          {node_label} · {plan_label}
        </b>
        <span>{timeLeft(subscription)}</span>
        <small>
          {bytes(up + down)} · {access().sources[source]}
        </small>
      </div>
      <SubscriptionBadge subscription={subscription} />
      <SubscriptionMenu subscription={subscription} />
    </li>
  )
}

export function Subscriptions({ user }: { user: CardUser }) {
  const t = cardTexts()
  const [open, setOpen] = useState<'grant' | 'pay' | null>(null)
  const close = () => setOpen(null)
  return (
    <section aria-label={t.subscriptions}>
      <div class="row between">
        <h3>{t.subscriptions}</h3>
        <a class="link" href={href('/payments', { tg_id: user.tg_id })}>
          {t.payments}
        </a>
      </div>
      {user.subscriptions.length === 0 ? (
        <Empty title={t.noSubscriptions} hint={t.noSubscriptionsHint} />
      ) : (
        <ul class="lines">
          {user.subscriptions.map((subscription) => (
            <Line key={subscription.uuid} subscription={subscription} />
          ))}
        </ul>
      )}
      <div class="row">
        <Button small icon="plus" onClick={() => setOpen('grant')}>
          {access().grant}
        </Button>
        <Button small icon="link" onClick={() => setOpen('pay')}>
          {access().payLink}
        </Button>
      </div>
      {open === 'grant' && <GrantDialog tgId={user.tg_id} close={close} />}
      {open === 'pay' && <PayLinkDialog tgId={user.tg_id} close={close} />}
    </section>
  )
}
