/** The gateway that a preset names: Platega, cisPay, or one that speaks the API of docs/gateways.md. */
import * as v from 'valibot'
import { badRequest } from '#src/lib/errors.ts'
import { addressText, HTTP_ADDRESS, secretText } from '#src/lib/values.ts'
import type { GatewayDescriptor, ReadSetting } from '#src/ports/payment-gateway.ts'
import { createProviderB } from './gateway.ts'

/** The generic one is wherever the admin says. */
const PRESETS = {
  platega: { label: 'Platega', apiUrl: 'https://app.platega.io' },
  cispay: { label: 'cisPay', apiUrl: 'https://api.cispay.app' },
  generic: { label: 'Payment gateway', apiUrl: '' },
}
const PRESET_IDS = ['platega', 'cispay', 'generic'] as const
const presetOf = (text: string | undefined) => PRESET_IDS.find((id) => id === text) ?? 'platega'

const PRESET = 'PROVIDER_B_PRESET'
const API_URL = 'PROVIDER_B_API_URL'
const SECRET = 'PROVIDER_B_SECRET'

function shop(read: ReadSetting) {
  const preset = presetOf(read(PRESET))
  // Paths are appended to it.
  const apiUrl = read(API_URL).replace(/\/+$/, '') || PRESETS[preset].apiUrl
  return { shopId: read('PROVIDER_B_MERCHANT_ID'), secret: read(SECRET), preset, apiUrl }
}

/** The row of the address after a change of preset and address, and the address that counts then. */
function nextAddress(
  { preset, apiUrl }: { preset: keyof typeof PRESETS; apiUrl: string | undefined },
  present: ReadSetting,
  environment: ReadSetting,
) {
  if (apiUrl) return { row: { [API_URL]: apiUrl }, counts: apiUrl }
  const before = shop(present)
  if (apiUrl === undefined && preset === before.preset) return { row: {}, counts: before.apiUrl }
  // The old address is another gateway's: the secret must not go there.
  return { row: { [API_URL]: null }, counts: environment(API_URL) || PRESETS[preset].apiUrl }
}

export const providerB: GatewayDescriptor = {
  id: 'provider_b',
  enabledKey: 'PROVIDER_B_ENABLED',
  settings: [
    {
      key: PRESET,
      name: 'preset',
      value: v.picklist(PRESET_IDS),
      start: {
        fits: (text) => PRESET_IDS.some((id) => id === text),
        need: 'platega, cispay or generic',
      },
      fallback: 'platega',
      leads: SECRET,
    },
    { key: 'PROVIDER_B_MERCHANT_ID', name: 'merchant_id', value: secretText(128) },
    {
      key: API_URL,
      name: 'api_url',
      isAddress: true,
      value: addressText(['https:']),
      start: HTTP_ADDRESS,
      leads: SECRET,
    },
    { key: SECRET, name: 'secret', value: secretText(512) },
  ],
  presets: PRESET_IDS,
  shop,
  rows(values, present, environment) {
    const preset = presetOf(values[PRESET] ?? present(PRESET))
    const { row, counts } = nextAddress({ preset, apiUrl: values[API_URL] }, present, environment)
    if (!counts) throw badRequest('api_url is missing: this preset has none of its own')
    return { ...values, [PRESET]: preset, ...row }
  },
  isComplete: ({ shopId, secret, apiUrl }) => shopId !== '' && secret !== '' && apiUrl !== '',
  label: ({ preset }) => PRESETS[presetOf(preset)].label,
  noticeName: ({ preset }) => (preset === 'platega' ? 'platega' : 'provider_b'),
  connect: createProviderB,
}
