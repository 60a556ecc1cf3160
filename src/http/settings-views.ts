/** Live settings -> JSON: the list of what may leave the service. Secrets are told of, never shown. */
import type { Plan } from '#db/schema.ts'
import { backupKey } from '#src/domain/installation/backup-passphrase.ts'
import { maskToken } from '#src/domain/installation/bot-settings.ts'
import { LEGAL_KEYS } from '#src/domain/installation/legal.ts'
import { APP_SCHEMES, readApps } from '#src/domain/lists/apps.ts'
import { tickedEvents } from '#src/domain/notify/events.ts'
import { listProviders } from '#src/domain/payments/providers.ts'
import { isTrue, type Settings } from '#src/domain/settings.ts'
import { botName } from '#src/lib/bot-link.ts'
import type { GatewayDescriptor, GatewaySetting } from '#src/ports/payment-gateway.ts'
import type { Services } from '#src/services.ts'

export function hwidView(settings: Settings) {
  return {
    enabled: settings.flag('HWID_LIMIT_ENABLED'),
    fallback_limit: settings.int('HWID_FALLBACK_LIMIT'),
  }
}

export function botView(settings: Settings) {
  return {
    username: botName(settings.text('BOT_USERNAME')),
    token_masked: maskToken(settings.text('BOT_TOKEN')),
  }
}

export function brandView(settings: Settings) {
  return { brand_name: settings.text('BRAND_NAME'), brand_hue: settings.int('BRAND_HUE') }
}

/** `changed`: whether an admin has put their own in place of the one that comes with the service. */
export function appsView(settings: Settings) {
  const schemes: string[] = [...APP_SCHEMES]
  return {
    apps: [...readApps(settings)],
    changed: settings.text('APP_CATALOGUE') !== '',
    schemes,
  }
}

export function webhookView(settings: Settings) {
  const events = tickedEvents(settings)
  return {
    ...(events.length > 0 && { events }),
    url: settings.text('WEBHOOK_URL'),
    has_secret: settings.text('WEBHOOK_SECRET') !== '',
  }
}

export function alertsView(settings: Settings) {
  const ids = settings.text('ADMIN_TG_IDS').match(/\d+/g) ?? []
  return { admin_tg_ids: ids.map(Number) }
}

/** Nothing of the passphrase leaves the service. */
export function backupView(s: Pick<Services, 'db'>) {
  return { encrypted: backupKey(s) !== null }
}

export function receiptsView(settings: Settings) {
  return {
    mode: settings.text('RECEIPT_MODE'),
    email: settings.text('RECEIPT_EMAIL'),
    vat_code: settings.int('VAT_CODE'),
  }
}

export function legalView(settings: Settings) {
  const keys = [...LEGAL_KEYS, 'OFFER_EFFECTIVE_DATE'] as const
  const view = Object.fromEntries(keys.map((key) => [key, settings.text(key)]))
  return view as Record<(typeof keys)[number], string>
}

export function securityView(settings: Settings) {
  return { require_2fa: settings.flag('REQUIRE_2FA') }
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

export function planSettingsView(settings: Settings, plans: Plan[]) {
  return {
    payments_enabled: settings.flag('PAYMENTS_ENABLED'),
    prices: Object.fromEntries(plans.map(({ code, price }) => [code, price])),
  }
}
