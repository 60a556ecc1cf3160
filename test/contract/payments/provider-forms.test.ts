/** The settings of a provider by its id. */
import { afterAll, beforeEach, expect } from 'vitest'
import { listed, noB } from '#test/support/calls/provider-forms.ts'
import { startFakeCryptobot } from '#test/support/fakes/cryptobot.ts'
import { expectKept, settingsOf } from '#test/support/rows/secrets.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'

const CRYPTO = '12345:crypto-token-of-the-app'
const crypto = await startFakeCryptobot([CRYPTO])

beforeEach(() => crypto.reset())

afterAll(() => crypto.close())

const world = { environment: { CRYPTOBOT_API_URL: crypto.url } }
const path = (name: string) => `/admin/api/payments/${name}`
const B = path('provider-b-settings')
const B_SECRET = 'secret-of-provider-b'
const PROVIDERS = path('providers')
const settings = (id: string) => `${PROVIDERS}/${id}/settings`

const formB = (value: Record<string, string>, isSet: string[] = []) => [
  ...['preset', 'merchant_id', 'api_url', 'secret'].map((name) =>
    expect.objectContaining({ name, value: value[name] ?? '', is_set: isSet.includes(name) }),
  ),
]

scenarios(
  'payments/providers/{id}/settings',
  [
    {
      name: '200 with the form of provider B, never its secret',
      world: { environment: { PROVIDER_B_SECRET: B_SECRET } },
      request: { path: settings('provider_b') },
      status: 200,
      effects: (_w, _given, { json, text }) => {
        const { api_url, preset } = noB
        expect(json).toEqual({
          id: 'provider_b',
          note: null,
          fields: formB({ preset, api_url }, ['preset', 'secret']),
        })
        expect(json.fields[0].options.map(({ value }: { value: string }) => value)).toEqual([
          'platega',
          'cispay',
          'generic',
        ])
        expect(text).not.toContain(B_SECRET)
      },
    },
    {
      name: '200 with a note in place of a form where nothing is to be set',
      request: { path: settings('stars') },
      status: 200,
      effects: (_w, _given, { json }) => {
        expect(json).toMatchObject({ id: 'stars', fields: [] })
        expect(Object.keys(json.note)).toEqual(['en', 'ru'])
      },
    },
    {
      name: '200, and provider B is set, and on with payments, as by its own route',
      request: {
        path: settings('provider_b'),
        body: { preset: 'generic', merchant_id: '5', api_url: 'https://b.test/', secret: B_SECRET },
      },
      status: 200,
      effects: async (w, _given, { json }) => {
        const { merchant_id, secret, ...rest } = {
          preset: 'generic',
          merchant_id: '5',
          api_url: 'https://b.test',
          secret: '',
        }
        const names = ['preset', 'merchant_id', 'api_url', 'secret']
        expect(json.fields).toEqual(formB({ merchant_id, secret, ...rest }, names))
        expect((await w.admin(B)).json).toEqual({
          ...rest,
          merchant_id,
          enabled: true,
          has_secret: true,
        })
        expect(settingsOf(w).PAYMENTS_ENABLED).toBe('true')
      },
    },
    {
      name: '200, and a token of CryptoBot is saved and switches nothing on',
      request: { path: settings('cryptobot'), body: { token: CRYPTO } },
      status: 200,
      effects: async (w, _given, { json, text }) => {
        expect(json.fields).toEqual([expect.objectContaining({ name: 'token', is_set: true })])
        expect((await w.admin(PROVIDERS)).json).toEqual(listed({ cryptobot: { configured: true } }))
        expect(settingsOf(w).PAYMENTS_ENABLED).toBeUndefined()
        expectKept(w, CRYPTO, text)
      },
    },
    {
      name: '401 and nothing is saved for a token that Crypto Pay refuses',
      request: { path: settings('cryptobot'), body: { token: '1:wrong-one' } },
      status: 401,
      error: 'provider credentials rejected',
    },
    ...(
      [
        ['provider_a', {}, 'shop_id is missing or of the wrong type'],
        ['provider_a', { shop_id: '7' }, 'secret_key is missing or of the wrong type'],
        ['provider_b', { preset: 'x', merchant_id: '5', secret: 's' }, /^preset must be platega/],
        ['provider_b', { secret: 's' }, 'merchant_id is missing or of the wrong type'],
        ['cryptobot', { enabled: 'true' }, 'token is missing or of the wrong type'],
        ['stars', { token: CRYPTO }, 'nothing to change'],
      ] as [string, unknown, string | RegExp][]
    ).map(
      ([id, body, error]): Scenario => ({
        name: `400 and nothing is applied for ${id}: ${JSON.stringify(body)}`,
        request: { path: settings(id), body },
        status: 400,
        error,
        effects: () => expect(crypto.asked).toEqual([]),
      }),
    ),
    ...(['GET', 'POST'] as const).map(
      (method): Scenario => ({
        name: `404 for ${method} of an unknown provider`,
        request: { method, path: settings('provider_c'), ...(method === 'POST' && { body: {} }) },
        status: 404,
        error: 'provider not found',
      }),
    ),
  ],
  world,
)
