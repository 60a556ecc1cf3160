/** Where events are sent, and the key they are signed with. */

import type { Actor } from '#src/domain/audit.ts'
import { requireOutboundUrl } from '#src/domain/outbound-url.ts'
import { readSettingsIn, writeSettings } from '#src/domain/settings.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { randomHex } from '#src/lib/random.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { OPTIONAL_EVENTS, type OptionalEvent } from '#src/settings/optional-events.ts'
import { alert } from './alerts.ts'
import { tickedEvents } from './events.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config'>

/** A new key for events: 64 hex characters, the longest that Standard Webhooks allows. */
export const generateWebhookSecret = () => randomHex(32)

/** What of the webhook is to be changed; `events`: the optional ones that are sent from now on. */
export interface WebhookChanges {
  url?: string | undefined
  events?: OptionalEvent[] | undefined
}

/**
 * Saves the webhook's address and what goes there; an empty address switches it off. The first one generates the secret, decided in
 * the transaction, so that only one of two processes does: its result then has the secret. Throws 400 for an address that can't be
 * sent to.
 */
export async function saveWebhook(
  s: Deps,
  actor: Actor,
  { url, events }: WebhookChanges,
): Promise<{ secret?: string }> {
  if (url) requireOutboundUrl(s, 'url', url, ['http', 'https'])
  const at = formatTimestamp(s.clock.now())
  return s.db.tx(function* (tx) {
    const settings = yield* readSettingsIn(tx, s)
    if (url !== undefined && url !== settings.text('WEBHOOK_URL')) {
      yield* alert(tx, s, at, { about: 'webhook-changed', ...actor })
    }
    const unticked = events && tickedEvents(settings).filter((one) => !events.includes(one))
    if (unticked?.length) {
      const about = 'events-unticked'
      yield* alert(tx, s, at, { about, events: unticked.join(', '), ...actor })
    }
    const secret =
      url && settings.text('WEBHOOK_SECRET') === '' ? generateWebhookSecret() : undefined
    const WEBHOOK_EVENTS = events && OPTIONAL_EVENTS.filter((one) => events.includes(one)).join(' ')
    const changes = omitUndefined({ WEBHOOK_URL: url, WEBHOOK_SECRET: secret, WEBHOOK_EVENTS })
    yield* writeSettings(tx, actor, at, changes)
    return omitUndefined({ secret })
  })
}

/** Replaces the secret and gives the new one. */
export async function rotateWebhookSecret(s: Deps, actor: Actor): Promise<string> {
  const secret = generateWebhookSecret()
  const at = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    yield* writeSettings(tx, actor, at, { WEBHOOK_SECRET: secret })
    yield* alert(tx, s, at, { about: 'webhook-secret-changed', ...actor })
  })
  return secret
}
