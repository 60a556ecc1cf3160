/** The settings that apply live, and what the environment's values of them must be. */
import { HTTP_ADDRESS } from './lib/values.ts'
import type { GatewayDescriptor } from './ports/payment-gateway.ts'

/** Keys that apply live: a row of `settings` wins over the environment (domain/settings.ts). Those of gateways come to them. */
export const LIVE_KEYS = [
  'BOT_TOKEN',
  'BOT_USERNAME',
  'BRAND_NAME',
  'BRAND_HUE',
  'PAYMENTS_ENABLED',
  'HWID_LIMIT_ENABLED',
  'HWID_FALLBACK_LIMIT',
  'WEBHOOK_URL',
  'WEBHOOK_SECRET',
  'WEBHOOK_EVENTS',
  'LEGAL_NAME',
  'LEGAL_INN',
  'REFUND_HOURS',
  'SUPPORT_CONTACT',
  'SUPPORT_EMAIL',
  'OFFER_EFFECTIVE_DATE',
  'RECEIPT_MODE',
  'RECEIPT_EMAIL',
  'VAT_CODE',
  'ADMIN_TG_IDS',
  'REQUIRE_2FA',
  'APP_CATALOGUE',
] as const
export type LiveKey = (typeof LIVE_KEYS)[number]

export type Gateways = readonly GatewayDescriptor[]

/** The keys of all live settings, those of these gateways too. */
export const liveKeysOf = (gateways: Gateways): string[] => [
  ...LIVE_KEYS,
  ...gateways.flatMap(({ enabledKey, settings }) => [
    enabledKey,
    ...settings.map(({ key }) => key),
  ]),
]

export const FLAG = {
  fits: (text: string) => /^(1|0|true|false|yes|no|on|off)$/i.test(text),
  need: 'on or off',
}
/** Codes of the tax authority that providers take (yookassa.ru/developers/54fz/parameters-values). */
const isVatCode = (text: string) =>
  /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= 12

function isJsonArray(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text))
  } catch {
    return false
  }
}

/** What the environment's value must be; `need`: in words. */
interface Rule {
  fits: (text: string) => boolean
  need: string
}

/** What the environment's values of live keys must be; the others are free text. */
const LIVE_RULES: Partial<Record<LiveKey, Rule>> = {
  PAYMENTS_ENABLED: FLAG,
  HWID_LIMIT_ENABLED: FLAG,
  REQUIRE_2FA: FLAG,
  HWID_FALLBACK_LIMIT: {
    fits: (text) => /^[1-9]\d{0,3}$/.test(text) && Number(text) <= 1000,
    need: 'a whole number from 1 to 1000',
  },
  BRAND_HUE: {
    fits: (text) => /^\d{1,3}$/.test(text) && Number(text) <= 360,
    need: 'a hue from 0 to 360',
  },
  WEBHOOK_URL: HTTP_ADDRESS,
  WEBHOOK_EVENTS: {
    fits: (text) => /^[a-z_.]+([\s,]+[a-z_.]+)*$/.test(text),
    need: 'a list of events',
  },
  RECEIPT_MODE: { fits: (text) => /^(off|auto|on)$/.test(text), need: 'off, auto or on' },
  VAT_CODE: { fits: isVatCode, need: 'a whole number from 1 to 12' },
  OFFER_EFFECTIVE_DATE: {
    fits: (text) => /^\d{2}\.\d{2}\.\d{4}$/.test(text),
    need: 'a date as dd.mm.yyyy',
  },
  APP_CATALOGUE: { fits: isJsonArray, need: 'a list of apps as JSON' },
  ADMIN_TG_IDS: {
    fits: (text) => /^\d{1,16}([\s,]+\d{1,16})*$/.test(text),
    need: 'a list of Telegram ids',
  },
}

/** The rules of all live settings by their keys. */
export function rulesOf(gateways: Gateways): Map<string, Rule | undefined> {
  const own = gateways.flatMap(({ enabledKey, settings }): [string, Rule | undefined][] => [
    [enabledKey, FLAG],
    ...settings.map(({ key, start }): [string, Rule | undefined] => [key, start]),
  ])
  return new Map([...LIVE_KEYS.map((key) => [key, LIVE_RULES[key]] as const), ...own])
}
