import { afterAll, beforeEach, expect } from 'vitest'
import { GATEWAY_IDS } from '#src/integrations/payments/index.ts'
import { listed, noB } from '#test/support/calls/provider-forms.ts'
import { startFakeCryptobot } from '#test/support/fakes/cryptobot.ts'
import { MISBEHAVIOURS, type Mood } from '#test/support/fakes/system.ts'
import { putSettings } from '#test/support/rows/records.ts'
import { expectKept, settingsOf } from '#test/support/rows/secrets.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'

const CRYPTO = '12345:crypto-token-of-the-app'
const crypto = await startFakeCryptobot([CRYPTO])

beforeEach(() => crypto.reset())

afterAll(() => crypto.close())

const world = { environment: { CRYPTOBOT_API_URL: crypto.url } }
const path = (name: string) => `/admin/api/payments/${name}`
const B = path('provider-b-settings')
const setB = (body: unknown) => ({ path: B, body })
const MERCHANT = 'e3b0c442-98fc-4c14-9afb-f4c8996fb924'
const B_SECRET = 'secret-of-provider-b'

scenarios('provider-b-settings', [
  { name: '200 with nothing set', request: { path: B }, status: 200, body: noB },
  {
    name: '200 with the values of the environment, the secret only told of',
    world: {
      environment: {
        PROVIDER_B_PRESET: 'cispay',
        PROVIDER_B_MERCHANT_ID: '5',
        PROVIDER_B_SECRET: B_SECRET,
        PROVIDER_B_API_URL: 'http://127.0.0.1:1',
        PROVIDER_B_ENABLED: 'on',
      },
    },
    request: { path: B },
    status: 200,
    body: {
      enabled: true,
      preset: 'cispay',
      merchant_id: '5',
      api_url: 'http://127.0.0.1:1',
      has_secret: true,
    },
  },
  ...[
    { merchant_id: MERCHANT, secret: B_SECRET },
    { shop_id: MERCHANT, secret_key: B_SECRET },
    { merchant_id: MERCHANT, shop_id: 'other', secret: B_SECRET, secret_key: 'other' },
  ].map(
    (body): Scenario => ({
      name: `200 and saved unasked, switched on with payments: ${Object.keys(body)}`,
      request: setB(body),
      status: 200,
      body: { ok: true, restarted_bot: false },
      effects: async (w, _given, { text }) => {
        expect((await w.admin(B)).json).toEqual({
          ...noB,
          enabled: true,
          merchant_id: MERCHANT,
          has_secret: true,
        })
        expect(settingsOf(w).PAYMENTS_ENABLED).toBe('true')
        expect(settingsOf(w).PROVIDER_B_SECRET).toBe(B_SECRET)
        expectKept(w, B_SECRET, text)
        expect(w.rows('select wanted_generation as n from bot_state')).toEqual([{ n: 1 }])
      },
    }),
  ),
  {
    name: '200 and the generic preset with an address of its own',
    request: setB({
      merchant_id: 'm',
      secret: B_SECRET,
      preset: 'generic',
      api_url: 'https://pay.test/v1/',
    }),
    status: 200,
    effects: async (w) => {
      expect((await w.admin(B)).json).toMatchObject({
        preset: 'generic',
        api_url: 'https://pay.test/v1',
      })
      const again = await w.admin(B, { body: { merchant_id: 'm2', secret: 's2' } })
      expect(again.status).toBe(200)
      expect((await w.admin(B)).json).toMatchObject({
        preset: 'generic',
        merchant_id: 'm2',
        api_url: 'https://pay.test/v1',
      })
    },
  },
  {
    name: '200 and another preset does not keep the address of the one before',
    given: (w) =>
      putSettings(w, { PROVIDER_B_PRESET: 'generic', PROVIDER_B_API_URL: 'https://old.test' }),
    request: setB({ merchant_id: 'm', secret: B_SECRET, preset: 'cispay' }),
    status: 200,
    effects: async (w) =>
      expect((await w.admin(B)).json).toMatchObject({
        preset: 'cispay',
        api_url: 'https://api.cispay.app',
      }),
  },
  {
    name: '200 and an empty address is the one of the preset again',
    given: (w) => putSettings(w, { PROVIDER_B_API_URL: 'https://mirror.test' }),
    request: setB({ merchant_id: 'm', secret: B_SECRET, api_url: '' }),
    status: 200,
    effects: async (w) => expect((await w.admin(B)).json.api_url).toBe('https://app.platega.io'),
  },
  ...(
    [
      [{}, 'merchant_id is missing or of the wrong type'],
      [{ merchant_id: 'm' }, 'secret is missing or of the wrong type'],
      [{ secret: 's' }, 'merchant_id is missing or of the wrong type'],
      [{ preset: 'cispay' }, 'merchant_id is missing or of the wrong type'],
      [{ merchant_id: 'm', api_url: 'https://evil.test' }, /^secret is missing/],
      [{ api_url: 'https://evil.test' }, /is missing/],
      [{ merchant_id: '', secret: 's' }, 'merchant_id must not be empty'],
      [{ merchant_id: 'm', secret: '' }, 'secret must not be empty'],
      [{ merchant_id: 5, secret: 's' }, 'merchant_id must be a string'],
      [{ merchant_id: 'm', secret: ['s'] }, 'secret must be a string'],
      [{ merchant_id: 'm', secret: 's', preset: 'paypal' }, /^preset must be platega, cispay/],
      [{ merchant_id: 'm', secret: 's', preset: 'generic' }, /^api_url is missing/],
      [
        { merchant_id: 'm', secret: 's', api_url: 'http://pay.test' },
        'api_url must be an https address',
      ],
      [{ merchant_id: 'm', secret: 's', api_url: 'pay.test' }, 'api_url must be an https address'],
      [
        { merchant_id: 'm', secret: 's', api_url: 'https://u:p@pay.test' },
        /^api_url must not hold/,
      ],
      [{ merchant_id: 'm', secret: 's', api_url: 'https://169.254.169.254' }, /^api_url leads to/],
      [{ merchant_id: 'm\nX: y', secret: 's' }, /^merchant_id must be one line/],
      [{ merchant_id: 'm', secret: 's\u0000' }, /^secret must be one line/],
    ] as [unknown, string | RegExp][]
  ).map(
    ([body, error]): Scenario => ({
      name: `400 and nothing is saved: ${JSON.stringify(body).slice(0, 80)}`,
      request: setB(body),
      status: 400,
      error,
    }),
  ),
])

const PROVIDERS = path('providers')

scenarios(
  'payments/providers',
  [
    { name: '200 with all four', request: { path: PROVIDERS }, status: 200, body: listed() },
    {
      name: '200 with what the environment sets',
      world: {
        environment: {
          PROVIDER_A_SHOP_ID: '7',
          PROVIDER_A_SECRET_KEY: 'key',
          PROVIDER_B_PRESET: 'generic',
          PROVIDER_B_MERCHANT_ID: 'm',
          PROVIDER_B_SECRET: 's',
          PROVIDER_B_ENABLED: 'true',
          BOT_TOKEN: '1:x',
          STARS_ENABLED: '1',
        },
      },
      request: { path: PROVIDERS },
      status: 200,
      body: listed({
        provider_a: { configured: true },
        provider_b: { label: 'Payment gateway', enabled: true },
        stars: { enabled: true, configured: true },
      }),
    },
    ...GATEWAY_IDS.map(
      (id): Scenario => ({
        name: `200 and only ${id} is switched`,
        request: { path: `${PROVIDERS}/${id}`, body: { enabled: true } },
        status: 200,
        effects: async (w, _given, { json }) => {
          const after = listed({ [id]: { enabled: true } })
          expect(json).toEqual(after.find((one) => one.id === id))
          expect((await w.admin(PROVIDERS)).json).toEqual(after)
          await w.admin(`${PROVIDERS}/${id}`, { body: { enabled: false } })
          expect((await w.admin(PROVIDERS)).json).toEqual(listed())
          expect(settingsOf(w).PAYMENTS_ENABLED).toBeUndefined()
        },
      }),
    ),
    ...['', 'unknown', 'provider_c', '__proto__'].map(
      (id): Scenario => ({
        name: `404 for the provider ${JSON.stringify(id)}`,
        request: { path: `${PROVIDERS}/${id}`, body: { enabled: true } },
        status: 404,
      }),
    ),
    ...(
      [
        ['provider_a', {}, 'nothing to change'],
        ['provider_a', { token: CRYPTO }, 'nothing to change'],
        ['cryptobot', {}, 'nothing to change'],
        ['stars', { enabled: 1 }, 'enabled must be true or false'],
        ['stars', { enabled: 'true' }, 'enabled must be true or false'],
        ['cryptobot', { token: '' }, 'token must not be empty'],
        ['cryptobot', { token: 5, enabled: true }, 'token must be a string'],
        ['cryptobot', { token: CRYPTO, enabled: 'yes' }, 'enabled must be true or false'],
        ['cryptobot', { token: `${CRYPTO}\r\nX: y` }, /^token must be one line/],
      ] as [string, unknown, string | RegExp][]
    ).map(
      ([id, body, error]): Scenario => ({
        name: `400 and nothing is applied for ${id}: ${JSON.stringify(body)}`,
        request: { path: `${PROVIDERS}/${id}`, body },
        status: 400,
        error,
        effects: () => expect(crypto.asked).toEqual([]),
      }),
    ),
    {
      name: '200 and the token of CryptoBot is saved once Crypto Pay knows it',
      request: { path: `${PROVIDERS}/cryptobot`, body: { token: CRYPTO, enabled: true } },
      status: 200,
      body: { id: 'cryptobot', label: 'CryptoBot', enabled: true, configured: true },
      effects: (w, _given, { text }) => {
        expect(settingsOf(w)).toEqual({
          ...settingsOf(w),
          CRYPTOBOT_TOKEN: CRYPTO,
          CRYPTOBOT_ENABLED: 'true',
        })
        expectKept(w, CRYPTO, text)
      },
    },
    {
      name: '200 and a token alone switches nothing on',
      request: { path: `${PROVIDERS}/cryptobot`, body: { token: CRYPTO } },
      status: 200,
      body: { id: 'cryptobot', label: 'CryptoBot', enabled: false, configured: true },
    },
    {
      name: '401 and nothing is saved for a token that Crypto Pay refuses',
      request: { path: `${PROVIDERS}/cryptobot`, body: { token: '1:wrong-one', enabled: true } },
      status: 401,
      error: 'provider credentials rejected',
      effects: (w, _given, { text }) => expectKept(w, '1:wrong-one', text),
    },
    ...(Object.keys(MISBEHAVIOURS) as Mood[]).map(
      (mood): Scenario => ({
        name: `400 and nothing is saved while Crypto Pay is ${mood}`,
        given: () => {
          crypto.mood = mood
        },
        request: { path: `${PROVIDERS}/cryptobot`, body: { token: CRYPTO, enabled: true } },
        status: 400,
        error: 'no connection to the provider',
        effects: (w, _given, { text }) => expectKept(w, CRYPTO, text),
      }),
    ),
  ],
  world,
)
