/** Credentials of the providers, saved together with their switches. */

import { raiseWantedGeneration } from '#db/bot-state.ts'
import type { Query } from '#db/engine/database.ts'
import type { Actor } from '#src/domain/audit.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import { awaitBotRestart } from '#src/domain/notify/bot-restart.ts'
import { requireOutboundUrl } from '#src/domain/outbound-url.ts'
import {
  type GatewayValues,
  readSettings,
  readSettingsIn,
  type Settings,
  writeSettings,
} from '#src/domain/settings.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { providerLabels } from './providers.ts'
import { currentCredentials, isSameAccess, keepPrevious } from './shops.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config' | 'gateways' | 'log'>

/** What an admin sets of a gateway: values of its settings by their keys. */
export type Values = Partial<Record<string, string>>

/**
 * Asks the gateway, where it can be asked, whether it takes the credentials that these values make. Throws 400 for an address that
 * may not be asked and while the gateway gives no answer, 401 when it refuses them.
 */
async function requireAccepted(s: Deps, gateway: GatewayDescriptor, values: Values): Promise<void> {
  for (const { key, name, isAddress } of gateway.settings) {
    const address = isAddress && values[key]
    if (address) requireOutboundUrl(s, name, address, ['https'])
  }
  const { ofGateway } = readSettings(s)
  const shop = gateway.shop((key) => values[key] ?? ofGateway(key))
  const check = await s.gateways[gateway.id]?.verify?.(shop)
  if (check?.outcome === 'rejected') throw refusal('provider-credentials-rejected')
  if (check?.outcome !== 'unreachable') return
  s.log.warn('a provider gave no usable answer', { provider: gateway.id, reason: check.reason })
  throw refusal('provider-unreachable')
}

/** Writes a provider's settings, keeps what they replace, and alerts where payments go by other credentials from now on. */
function* replaceCredentials(
  tx: Query,
  s: Deps,
  change: { actor: Actor; provider: string; before: Settings; values: GatewayValues; now: Date },
) {
  const { actor, provider, before, values, now } = change
  const at = formatTimestamp(now)
  yield* writeSettings(tx, actor, at, values)
  yield* keepPrevious(tx, s, provider, before, now)
  const after = yield* readSettingsIn(tx, s)
  if (isSameAccess(currentCredentials(before, provider), currentCredentials(after, provider)))
    return
  const gateway = providerLabels(after)(provider)
  yield* alert(tx, s, at, { about: 'gateway-changed', gateway, ...actor })
}

/** The rows of these values; throws 400. */
function rowsOf(gateway: GatewayDescriptor, values: Values, before: Settings) {
  const environment = (key: string) => before.live[key] ?? ''
  return gateway.rows?.(values, before.ofGateway, environment) ?? (values as GatewayValues)
}

/**
 * Saves all that a gateway needs, switches it and payments on and restarts the bot: true when it followed. Throws 400 or 401 for
 * credentials that the gateway does not take; nothing is saved then.
 */
export async function saveCredentials(
  s: Deps,
  actor: Actor,
  gateway: GatewayDescriptor,
  values: Values,
): Promise<boolean> {
  await requireAccepted(s, gateway, values)
  const now = s.clock.now()
  const generation = await s.db.tx(function* (tx) {
    const before = yield* readSettingsIn(tx, s)
    const switches = { [gateway.enabledKey]: 'true', PAYMENTS_ENABLED: 'true' }
    const rows = { ...rowsOf(gateway, values, before), ...switches }
    yield* replaceCredentials(tx, s, { actor, provider: gateway.id, before, values: rows, now })
    return yield* raiseWantedGeneration(tx)
  })
  return awaitBotRestart(s, generation)
}

/** Switches a gateway on or off, and saves credentials after asking whether they are right. Throws 400 or 401 then. */
export async function saveProvider(
  s: Deps,
  actor: Actor,
  gateway: GatewayDescriptor,
  { enabled, values }: { enabled?: boolean | undefined; values: Values },
): Promise<void> {
  const given = Object.keys(values).length > 0
  if (given) await requireAccepted(s, gateway, values)
  const now = s.clock.now()
  await s.db.tx(function* (tx) {
    const before = yield* readSettingsIn(tx, s)
    const rows = {
      ...(given ? rowsOf(gateway, values, before) : {}),
      ...(enabled === undefined ? {} : { [gateway.enabledKey]: String(enabled) }),
    }
    yield* replaceCredentials(tx, s, { actor, provider: gateway.id, before, values: rows, now })
  })
}
