import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { findShop } from '#src/domain/payments/shops.ts'
import { type FakeBot, startFakeBot } from '#test/support/fakes/bot.ts'
import { MISBEHAVIOURS, type Mood } from '#test/support/fakes/system.ts'
import { startFakeYookassa } from '#test/support/fakes/yookassa.ts'
import { DAY, putSettings } from '#test/support/rows/records.ts'
import { expectKept, settingsOf } from '#test/support/rows/secrets.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const KEY = 'test_secret-key-of-shop-A'
const yookassa = await startFakeYookassa({ '100500': KEY, '100600': KEY, '100700': KEY })
beforeEach(() => yookassa.reset())
afterAll(() => yookassa.close())

const environment = { PROVIDER_A_API_URL: yookassa.url }
const world = { environment }
const path = (name: string) => `/admin/api/payments/${name}`
const A = path('provider-a-settings')
const B = path('provider-b-settings')
const setA = (body: unknown) => ({ path: A, body })

scenarios('GET provider-a-settings', [
  {
    name: '200 with nothing set',
    request: { path: A },
    status: 200,
    body: { enabled: false, shop_id: '', has_secret: false },
  },
  {
    name: '200 with the values of the environment, the secret only told of',
    world: {
      environment: {
        PROVIDER_A_SHOP_ID: '7',
        PROVIDER_A_SECRET_KEY: KEY,
        PROVIDER_A_ENABLED: 'yes',
      },
    },
    request: { path: A },
    status: 200,
    body: { enabled: true, shop_id: '7', has_secret: true },
  },
])

scenarios(
  'POST provider-a-settings',
  [
    {
      name: '200, saved and switched on with payments, once the provider knows the pair',
      request: setA({ shop_id: ' 100500 ', secret_key: `${KEY}\n`, other: 1 }),
      status: 200,
      body: { ok: true, restarted_bot: false },
      effects: async (w, _given, { text }) => {
        expect(settingsOf(w)).toMatchObject({
          PROVIDER_A_SHOP_ID: '100500',
          PROVIDER_A_SECRET_KEY: KEY,
          PROVIDER_A_ENABLED: 'true',
          PAYMENTS_ENABLED: 'true',
        })
        expect(yookassa.asked.map((asked) => `${asked.method} ${asked.path}`)).toEqual([
          'GET /v3/me',
        ])
        expect((await w.admin(A)).json).toEqual({
          enabled: true,
          shop_id: '100500',
          has_secret: true,
        })
        expect(w.rows('select action, object, detail from audit_log')).toEqual([
          {
            action: 'settings.change',
            object: 'PROVIDER_A_SHOP_ID PROVIDER_A_SECRET_KEY PROVIDER_A_ENABLED PAYMENTS_ENABLED',
            detail: '',
          },
        ])
        expect(w.rows('select wanted_generation as n from bot_state')).toEqual([{ n: 1 }])
        expectKept(w, KEY, text)
      },
    },
    ...([403, 404] as const).map(
      (refusal): Scenario => ({
        name: `200 where /me answers ${refusal}, and the list of payments is open`,
        given: () => {
          yookassa.meRefusal = refusal
        },
        request: setA({ shop_id: '100500', secret_key: KEY }),
        status: 200,
        effects: () =>
          expect(yookassa.asked.map((asked) => asked.path)).toEqual([
            '/v3/me',
            '/v3/payments?limit=1',
          ]),
      }),
    ),
    ...([429, 500] as const).map(
      (refusal): Scenario => ({
        name: `400 where /me answers ${refusal}`,
        given: () => {
          yookassa.meRefusal = refusal
        },
        request: setA({ shop_id: '100500', secret_key: KEY }),
        status: 400,
        error: 'no connection to the provider',
      }),
    ),
    ...(
      [
        [403, 401, 'provider credentials rejected'],
        [500, 400, 'no connection to the provider'],
      ] as const
    ).map(
      ([refusal, status, error]): Scenario => ({
        name: `${status} where /me answers 403 and the list of payments ${refusal}`,
        given: () => {
          yookassa.meRefusal = 403
          yookassa.listRefusal = refusal
        },
        request: setA({ shop_id: '100500', secret_key: KEY }),
        status,
        error,
      }),
    ),
    ...(
      [
        ['100500', 'live_another-key'],
        ['999', KEY],
        ['100500', `${KEY}x`],
      ] as const
    ).map(
      ([shop, key]): Scenario => ({
        name: `401 and nothing is saved when the provider refuses ${shop} with ${key}`,
        given: (w) => putSettings(w, { PROVIDER_A_SHOP_ID: '100600', PAYMENTS_ENABLED: 'false' }),
        request: setA({ shop_id: shop, secret_key: key }),
        status: 401,
        error: 'provider credentials rejected',
        effects: (w, _given, { text }) => expectKept(w, key, text),
      }),
    ),
    ...(Object.keys(MISBEHAVIOURS) as Mood[]).map(
      (mood): Scenario => ({
        name: `400 and nothing is saved while the provider is ${mood}`,
        given: () => {
          yookassa.mood = mood
        },
        request: setA({ shop_id: '100500', secret_key: KEY }),
        status: 400,
        error: 'no connection to the provider',
        effects: async (w, _given, { text }) => {
          // On a busy machine the time is up before the fake has read.
          await expect.poll(() => yookassa.asked.length).toBe(1)
          expect(w.log.join('\n')).toMatch(
            /warn a provider gave no usable answer provider=provider_a /,
          )
          expectKept(w, KEY, text)
        },
      }),
    ),
    {
      name: '400 where nobody listens',
      world: { environment: {} },
      request: setA({ shop_id: '100500', secret_key: KEY }),
      status: 400,
      error: 'no connection to the provider',
    },
    {
      name: '400 where OUTBOUND_DENY_PRIVATE=1 and the provider is at a private address',
      world: { environment: { ...environment, OUTBOUND_DENY_PRIVATE: '1' } },
      request: setA({ shop_id: '100500', secret_key: KEY }),
      status: 400,
      error: 'no connection to the provider',
      effects: () => expect(yookassa.asked).toEqual([]),
    },
    ...(
      [
        [{}, 'shop_id is missing or of the wrong type'],
        [{ shop_id: '100500' }, 'secret_key is missing or of the wrong type'],
        [{ secret_key: KEY }, 'shop_id is missing or of the wrong type'],
        [{ shop_id: '', secret_key: KEY }, 'shop_id must not be empty'],
        [{ shop_id: '100500', secret_key: '  ' }, 'secret_key must not be empty'],
        [{ shop_id: 100500, secret_key: KEY }, 'shop_id must be a string'],
        [{ shop_id: '100500', secret_key: null }, 'secret_key must be a string'],
        [{ shop_id: '100500:x', secret_key: KEY }, 'shop_id must not hold a colon'],
        [{ shop_id: '100\n500', secret_key: KEY }, /^shop_id must be one line/],
        [{ shop_id: '100500', secret_key: 'a b' }, /^secret_key must be letters/],
        [{ shop_id: '100500', secret_key: 'ключ' }, /^secret_key must be letters/],
        [{ shop_id: '1'.repeat(65), secret_key: KEY }, /^shop_id must have at most/],
        [{ shop_id: '1', secret_key: 'k'.repeat(257) }, /^secret_key must have at most/],
      ] as [unknown, string | RegExp][]
    ).map(
      ([body, error]): Scenario => ({
        name: `400 and the provider is not asked: ${JSON.stringify(body).slice(0, 70)}`,
        request: setA(body),
        status: 400,
        error,
        effects: () => expect(yookassa.asked).toEqual([]),
      }),
    ),
    { name: '400 for a malformed body', request: { path: A, raw: 'x' }, status: 400 },
  ],
  world,
)

describe('credentials that were replaced', () => {
  let w: World
  let bot: FakeBot | undefined
  beforeEach(async () => {
    w = await createWorld({
      environment: { ...environment, PROVIDER_A_SHOP_ID: 'env', PROVIDER_A_SECRET_KEY: 'env-key' },
    })
    return async () => {
      await bot?.stop()
      w.close()
    }
  })
  const shop = (shopId: string) => w.admin(A, { body: { shop_id: shopId, secret_key: KEY } })
  const keyOf = async (shopId: string) =>
    (await findShop(w.s, { provider: 'provider_a', shopId }))?.secret
  const keysOf = (...ids: string[]) => Promise.all(ids.map(keyOf))
  const kept = () => w.rows('select secret from former_credentials')

  test('serve payments of their shop for 30 days, those of the environment too', async () => {
    expect(await keyOf('env')).toBe('env-key')
    await shop('100500')
    w.clock.advance(10 * DAY * 1000)
    await shop('100600')
    expect(await keysOf('env', '100500', '100600', 'other', '')).toEqual([
      'env-key',
      KEY,
      KEY,
      undefined,
      undefined,
    ])
    expect(await findShop(w.s, { provider: 'provider_b', shopId: '100500' })).toBeUndefined()
    w.clock.advance(20 * DAY * 1000)
    expect(await keysOf('env', '100500', '100600')).toEqual([undefined, KEY, KEY])
    w.clock.advance(10 * DAY * 1000)
    expect(await keysOf('env', '100500', '100600')).toEqual([undefined, undefined, KEY])
    await shop('100700')
    expect(kept()).toEqual([{ secret: KEY }])
  })

  test('are those of now again when the shop comes back', async () => {
    await shop('100500')
    await shop('100600')
    await shop('100500')
    expect(await keysOf('env', '100500', '100600')).toEqual(['env-key', KEY, KEY])
  })

  test('of provider B keep their gateway and its address', async () => {
    const set = (body: object) => w.admin(B, { body })
    await set({ merchant_id: 'one', secret: 'first', preset: 'cispay' })
    await set({ merchant_id: 'two', secret: 'second', preset: 'platega' })
    await set({ merchant_id: 'two', secret: 'third' })
    expect(await findShop(w.s, { provider: 'provider_b', shopId: 'one' })).toEqual({
      shopId: 'one',
      secret: 'first',
      preset: 'cispay',
      apiUrl: 'https://api.cispay.app',
    })
    expect((await findShop(w.s, { provider: 'provider_b', shopId: 'two' }))?.secret).toBe('third')
    expect(kept()).toHaveLength(1)
  })

  test('and the bot is restarted with the new ones', async () => {
    bot = startFakeBot(w, { follows: true })
    expect((await shop('100500')).json).toEqual({ ok: true, restarted_bot: true })
    const b = await w.admin(B, { body: { merchant_id: 'one', secret: 'first' } })
    expect(b.json).toEqual({ ok: true, restarted_bot: true })
  })
})
