/** Live settings -> JSON: the list of what may leave the service. Secrets are told of, never shown. */
import { backupKey } from '#src/domain/installation/backup-passphrase.ts'
import { readApps } from '#src/domain/lists/apps.ts'
import { listProviders } from '#src/domain/payments/providers.ts'
import type { Settings } from '#src/domain/settings.ts'
import type { GatewayDescriptor, GatewaySetting } from '#src/ports/payment-gateway.ts'
import type { Services } from '#src/services.ts'
import { APP_SCHEMES } from '#src/settings/app-catalogue.ts'
import { isTrue } from '#src/settings/kinds.ts'

/** `changed`: whether an admin has put their own in place of the one that comes with the service. */
export function appsView(settings: Settings) {
  const schemes: string[] = [...APP_SCHEMES]
  return {
    apps: [...readApps(settings)],
    changed: settings.text('APP_CATALOGUE') !== '',
    schemes,
  }
}

/** Nothing of the passphrase leaves the service. */
export function backupView(s: Pick<Services, 'db'>) {
  return { encrypted: backupKey(s) !== null }
}

/** What counts of a setting that is no secret. */
const shownOf = ({ ofGateway }: Settings, { key, shown }: GatewaySetting): string =>
  shown?.(ofGateway) ?? ofGateway(key)

const isSet = ({ ofGateway }: Settings, { key }: GatewaySetting) => ofGateway(key) !== ''

/** Settings of a gateway as its own route has them. */
export function ownRouteView(settings: Settings, { enabledKey, settings: all }: GatewayDescriptor) {
  const open = all.filter(({ secret }) => !secret)
  const secrets = all.filter(({ secret }) => secret)
  return {
    enabled: isTrue(settings.ofGateway(enabledKey)),
    ...Object.fromEntries(open.map((one) => [one.name, shownOf(settings, one)])),
    has_secret: secrets.every((one) => isSet(settings, one)),
  }
}

/** The same for a form that knows nothing of the gateway. */
export function providerSettingsView(settings: Settings, gateway: GatewayDescriptor) {
  return {
    id: gateway.id,
    note: gateway.note ?? null,
    fields: gateway.settings.map((one) => ({
      name: one.name,
      label: one.label,
      secret: one.secret ?? false,
      optional: one.optional ?? false,
      is_address: one.isAddress ?? false,
      is_set: isSet(settings, one),
      value: one.secret ? '' : shownOf(settings, one),
      options: one.options?.map(({ value, label }) => ({ value, label })) ?? null,
    })),
  }
}

export function providersView(settings: Settings) {
  return listProviders(settings).map(({ id, label, enabled, configured }) => ({
    id,
    label,
    enabled,
    configured,
  }))
}
