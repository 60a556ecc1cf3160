/** Where events are sent, and the key they are signed with. */
import { randomHex } from '#src/lib/random.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import type { Actor } from './audit.ts'
import { requireOutboundUrl } from './outbound-url.ts'
import { readSettingsIn, writeSettings } from './settings.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config'>

/** A new key for events: 64 hex characters, the longest that Standard Webhooks allows. */
export const generateWebhookSecret = () => randomHex(32)

/**
 * Saves the webhook's address; an empty one switches it off. The first one generates the secret, decided in the transaction, so
 * that only one of two processes does: its result then has the secret. Throws 400 for an address that can't be sent to.
 */
export async function saveWebhookUrl(
  s: Deps,
  actor: Actor,
  url: string,
): Promise<{ secret?: string }> {
  if (url !== '') requireOutboundUrl(s, 'url', url, ['http', 'https'])
  const at = formatTimestamp(s.clock.now())
  return s.db.tx(function* (tx) {
    const settings = yield* readSettingsIn(tx, s)
    if (url === '' || settings.text('WEBHOOK_SECRET') !== '') {
      yield* writeSettings(tx, actor, at, { WEBHOOK_URL: url })
      return {}
    }
    const secret = generateWebhookSecret()
    yield* writeSettings(tx, actor, at, { WEBHOOK_URL: url, WEBHOOK_SECRET: secret })
    return { secret }
  })
}

/** Replaces the secret and gives the new one. */
export async function rotateWebhookSecret(s: Deps, actor: Actor): Promise<string> {
  const secret = generateWebhookSecret()
  const at = formatTimestamp(s.clock.now())
  await s.db.tx((tx) => writeSettings(tx, actor, at, { WEBHOOK_SECRET: secret }))
  return secret
}
