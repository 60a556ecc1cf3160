/** States of users and subscriptions, in words. */
import { moment } from '#src/admin-ui/format.ts'
import type { AccessTexts } from '#src/admin-ui/i18n/access.en.ts'
import { Badge, type Tone } from '#src/admin-ui/kit/badge.tsx'
import { access } from './texts.ts'

interface Subscription {
  active: boolean
  held_at: string | null
  disabled_at?: string
  expires_at: string
  limited_at?: string | null
}

/** What the service's filter of this name would find it by. */
export function stateOf(subscription: Subscription): keyof AccessTexts['states'] {
  if (!subscription.active) return 'revoked'
  if (subscription.disabled_at !== undefined) return 'disabled'
  if (subscription.held_at !== null) return 'held'
  if (moment(subscription.expires_at).getTime() <= Date.now()) return 'expired'
  return subscription.limited_at ? 'limited' : 'active'
}

/** Whether its days run: with no traffic left it is served where none counts. */
export const isRunning = (subscription: Subscription): boolean =>
  ['active', 'limited'].includes(stateOf(subscription))

const TONES: Record<ReturnType<typeof stateOf>, Tone> = {
  active: 'ok',
  limited: 'bad',
  disabled: 'bad',
  held: 'warn',
  expired: 'bad',
  revoked: 'muted',
}

export function SubscriptionBadge({ subscription }: { subscription: Subscription }) {
  const state = stateOf(subscription)
  return <Badge tone={TONES[state]}>{access().states[state]}</Badge>
}

export function UserBadge(p: {
  user: { banned_at: string | null; active: number; held: number; disabled?: number }
}) {
  const { banned_at, active, held, disabled = 0 } = p.user
  const t = access().userStates
  if (banned_at !== null) return <Badge tone="bad">{t.banned}</Badge>
  if (active > 0) return <Badge tone="ok">{t.active}</Badge>
  if (held > 0) return <Badge tone="warn">{t.held}</Badge>
  if (disabled > 0) return <Badge tone="bad">{t.disabled}</Badge>
  return <Badge tone="muted">{t.none}</Badge>
}
