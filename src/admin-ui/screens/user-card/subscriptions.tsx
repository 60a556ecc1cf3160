/** What a user has, and what can be given. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { daysToGo, isWaiting, waitingDays } from '#src/admin-ui/days-left.ts'
import { bytes, date } from '#src/admin-ui/format.ts'
import { Button } from '#src/admin-ui/kit/button.tsx'
import { Empty } from '#src/admin-ui/kit/state.tsx'
import { useQuery } from '#src/admin-ui/query.ts'
import { Usage } from '#src/admin-ui/quotas.tsx'
import { href } from '#src/admin-ui/router.ts'
import { GrantDialog } from '#src/admin-ui/screens/access/grant-dialog.tsx'
import { PayLinkDialog } from '#src/admin-ui/screens/access/pay-link.tsx'
import { SubscriptionBadge, stateOf } from '#src/admin-ui/screens/access/state.tsx'
import { placeOf, type Subscription } from '#src/admin-ui/screens/access/subscription.ts'
import { SubscriptionMenu } from '#src/admin-ui/screens/access/subscription-actions.tsx'
import { access } from '#src/admin-ui/screens/access/texts.ts'
import { NodeBadge } from '#src/admin-ui/states.tsx'
import { type CardUser, cardTexts } from './texts.ts'

/** `21 days left · until 12 Dec 2026` */
function timeLeft(subscription: Subscription): string {
  const t = access()
  const state = stateOf(subscription)
  const end = date(subscription.expires_at)
  if (state === 'expired') return t.ended(end)
  if (subscription.endless) return t.endless
  if (isWaiting(subscription))
    return t.waits(waitingDays(subscription), date(subscription.start_by ?? ''))
  if (state === 'held') return t.daysOnHold(daysToGo(subscription))
  if (state === 'revoked') return t.until(end)
  return `${t.daysLeft(daysToGo(subscription))} · ${t.until(end)}`
}

/** The servers of a group, and how each of them is. */
function Servers({ codes }: { codes: string[] }) {
  const nodes = useQuery('nodes', () => ok(api.nodes.$get())).data ?? []
  return (
    <ul class="servers" aria-label={cardTexts().servers}>
      {nodes
        .filter(({ code }) => codes.includes(code))
        .map((node) => (
          <li key={node.code}>
            {node.label} <NodeBadge node={node} />
          </li>
        ))}
    </ul>
  )
}

function Line({ subscription }: { subscription: Subscription }) {
  const { plan_label, up, down, source, nodes, quota_bytes } = subscription
  return (
    <li>
      <div>
        <b>
          {placeOf(subscription)} · {plan_label}
        </b>
        <span>{timeLeft(subscription)}</span>
        {quota_bytes !== undefined && <Usage subscription={subscription} />}
        <small>
          {bytes(up + down)} · {access().sources[source]}
        </small>
        {nodes && <Servers codes={nodes} />}
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
