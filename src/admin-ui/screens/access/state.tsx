/** States of users and subscriptions, in words. */
import { moment } from '#src/admin-ui/format.ts'
import { Badge, type Tone } from '#src/admin-ui/kit/badge.tsx'
import { access } from './texts.ts'

interface Subscription {
  active: boolean
  held_at: string | null
  expires_at: string
}

/** What the service's filter of this name would find it by. */
export function stateOf(subscription: Subscription): 'active' | 'held' | 'expired' | 'revoked' {
  if (!subscription.active) return 'revoked'
  if (subscription.held_at !== null) return 'held'
  return moment(subscription.expires_at).getTime() > Date.now() ? 'active' : 'expired'
}

const TONES: Record<ReturnType<typeof stateOf>, Tone> = {
  active: 'ok',
  held: 'warn',
  expired: 'bad',
  revoked: 'muted',
}

export function SubscriptionBadge({ subscription }: { subscription: Subscription }) {
  const state = stateOf(subscription)
  return <Badge tone={TONES[state]}>{access().states[state]}</Badge>
}

export function UserBadge(p: { user: { banned_at: string | null; active: number; held: number } }) {
  const { banned_at, active, held } = p.user
  const t = access().userStates
  if (banned_at !== null) return <Badge tone="bad">{t.banned}</Badge>
  if (active > 0) return <Badge tone="ok">{t.active}</Badge>
  if (held > 0) return <Badge tone="warn">{t.held}</Badge>
  return <Badge tone="muted">{t.none}</Badge>
}
