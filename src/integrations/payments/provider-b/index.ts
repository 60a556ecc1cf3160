/** The gateway that a preset names: Platega, cisPay, or one that speaks the API of docs/gateways.md. */

import * as v from 'valibot'
import { addressText, httpAddress, line, secretText } from '#src/lib/values.ts'
import type { GatewayDescriptor, ReadSetting } from '#src/ports/payment-gateway.ts'
import { fieldRefusal } from '#src/refusals/index.ts'
import { SECRET_KEY } from '../labels.ts'
import { createProviderB } from './gateway.ts'
import { noticesOf } from './notices.ts'

/** The generic one is wherever the admin says. */
const PRESETS = {
  platega: { label: 'Platega', apiUrl: 'https://app.platega.io' },
  cispay: { label: 'cisPay', apiUrl: 'https://api.cispay.app' },
  generic: { label: 'Payment gateway', apiUrl: '' },
}
const PRESET_IDS = ['platega', 'cispay', 'generic'] as const
const preset = v.picklist(PRESET_IDS, 'must be platega, cispay or generic')
const presetOf = (text: string | undefined) => PRESET_IDS.find((id) => id === text) ?? 'platega'

/** Paths are appended to it. */
const withoutSlashes = (address: string) => address.replace(/\/+$/, '')

const PRESET = 'PROVIDER_B_PRESET'
const API_URL = 'PROVIDER_B_API_URL'
const SECRET = 'PROVIDER_B_SECRET'

function shop(read: ReadSetting) {
  const preset = presetOf(read(PRESET))
  const apiUrl = withoutSlashes(read(API_URL)) || PRESETS[preset].apiUrl
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
  docs: 'a second gateway',
  enabledKey: 'PROVIDER_B_ENABLED',
  settings: [
    {
      key: PRESET,
      name: 'preset',
      label: { en: 'Gateway', ru: 'Шлюз' },
      optional: true,
      options: [
        { value: 'platega', label: { en: 'Platega', ru: 'Platega' } },
        { value: 'cispay', label: { en: 'CisPay', ru: 'CisPay' } },
        { value: 'generic', label: { en: 'Another one', ru: 'Другой' } },
      ],
      value: preset,
      shown: (read) => shop(read).preset,
      start: preset,
      fallback: 'platega',
      docs: 'which gateway that is: `platega`, `cispay` or `generic` ([gateways.md](gateways.md))',
      leads: SECRET,
    },
    {
      key: 'PROVIDER_B_MERCHANT_ID',
      name: 'merchant_id',
      aliases: ['shop_id'],
      label: { en: 'Merchant id', ru: 'Id продавца' },
      value: secretText(128),
      docs: 'id of the shop there',
    },
    {
      key: API_URL,
      name: 'api_url',
      label: { en: 'Address of the API', ru: 'Адрес API' },
      optional: true,
      isAddress: true,
      value: addressText(['https:']),
      given: v.pipe(line(2048), v.transform(withoutSlashes)),
      shown: (read) => shop(read).apiUrl,
      start: httpAddress,
      leads: SECRET,
      docsDefault: "the preset's",
      docs: 'address of its API',
    },
    {
      key: SECRET,
      name: 'secret',
      aliases: ['secret_key'],
      label: SECRET_KEY,
      secret: true,
      value: secretText(512),
      docs: 'its secret',
    },
  ],
  ownRoute: {
    name: 'provider-b-settings',
    reading: 'Credentials of the second gateway, without the secret',
    saving: 'Set the second gateway and its credentials',
  },
  presets: PRESET_IDS,
  shop,
  rows(values, present, environment) {
    const preset = presetOf(values[PRESET] ?? present(PRESET))
    const { row, counts } = nextAddress({ preset, apiUrl: values[API_URL] }, present, environment)
    if (!counts) throw fieldRefusal('api_url', 'missing-for-preset')
    return { ...values, [PRESET]: preset, ...row }
  },
  isComplete: ({ shopId, secret, apiUrl }) => shopId !== '' && secret !== '' && apiUrl !== '',
  label: ({ preset }) => PRESETS[presetOf(preset)].label,
  notices: noticesOf(shop),
  noticeName: ({ preset }) => (preset === 'platega' ? 'platega' : 'provider_b'),
  connect: createProviderB,
}
