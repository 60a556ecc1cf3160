/** A gateway is one folder: everything else has it from its descriptor. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { textsOf } from '#src/bot/texts.ts'
import { loadConfig } from '#src/config.ts'
import { auditPayments } from '#src/domain/payments/audit.ts'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import { createDocument } from '#src/http/openapi.ts'
import { GATEWAY_IDS, GATEWAYS } from '#src/integrations/payments/index.ts'
import { startFakeExample } from '#test/support/fakes/example-gateway/fake.ts'
import { example, signExample } from '#test/support/fakes/example-gateway/index.ts'
import { addUser } from '#test/support/rows/records.ts'
import { createBotShop, monthIn } from '#test/support/worlds/bot-user.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const KEY = 'key-of-the-example'
const fake = await startFakeExample(KEY)
afterAll(() => fake.close())

const descriptors = [...GATEWAYS, example]
const SET_UP = { EXAMPLE_SHOP: 'shop-1', EXAMPLE_KEY: KEY, EXAMPLE_ENABLED: 'on' }
const ENVIRONMENT = { EXAMPLE_API_URL: fake.url, PAYMENTS_ENABLED: 'on' }
const PROVIDERS = '/admin/api/payments/providers'

let w: World
const opened: World[] = []
afterEach(() => {
  for (const one of opened.splice(0)) one.close()
})
const begin = async (environment: Record<string, string> = SET_UP) => {
  w = await createWorld({ descriptors, environment: { ...ENVIRONMENT, ...environment } })
  opened.push(w)
}
beforeEach(() => {
  fake.invoices.clear()
})

const notice = (world: World, body: object, key = KEY) => {
  const raw = JSON.stringify(body)
  return world.call('/payments/webhook/example', {
    raw,
    headers: { 'x-example-signature': signExample(raw, key) },
  })
}
const sold = (world: World) => world.rows("select * from subscriptions where source = 'payment'")
const rowOf = (world: World, id: string) => world.rows('select * from payments where id = ?', id)[0]

describe('its settings', () => {
  test('come from the environment, and a start refuses what they can not be', () => {
    const load = (environment: Record<string, string>) =>
      loadConfig({ ENV_FILE: '/nonexistent/.env', ...environment }, '/', descriptors)
    expect(load(SET_UP).live).toEqual(SET_UP)
    expect(load({}).gatewayUrls.example).toBe('https://api.example.com')
    expect(() => load({ EXAMPLE_ENABLED: 'perhaps' })).toThrow('EXAMPLE_ENABLED must be on or off')
  })

  test('are what a form of the panel is made of', async () => {
    await begin()
    const answer = await w.admin(`${PROVIDERS}/example/settings`)
    expect(answer.json).toEqual({
      id: 'example',
      note: null,
      fields: [
        {
          name: 'shop',
          label: { en: 'Shop', ru: 'Магазин' },
          secret: false,
          optional: false,
          is_address: false,
          is_set: true,
          value: 'shop-1',
          options: null,
        },
        expect.objectContaining({ name: 'key', secret: true, is_set: true, value: '' }),
      ],
    })
    expect(answer.text).not.toContain(KEY)
  })

  test('are saved once the gateway takes them, and its switch makes it offered', async () => {
    await begin({})
    const unset = { id: 'example', label: 'Example Pay', enabled: false, configured: false }
    expect((await w.admin(PROVIDERS)).json.at(-1)).toEqual(unset)
    const save = (key: string) =>
      w.admin(`${PROVIDERS}/example/settings`, { body: { shop: 'shop-1', key } })
    const refused = await save('wrong')
    expect([refused.status, refused.json.error]).toEqual([401, 'provider credentials rejected'])
    expect((await w.admin(PROVIDERS)).json.at(-1)).toEqual(unset)
    expect((await save(KEY)).status).toBe(200)
    const on = await w.admin(`${PROVIDERS}/example`, { body: { enabled: true } })
    expect(on.json).toEqual({ ...unset, enabled: true, configured: true })
    const token = addUser(w, 1)
    const shop = await w.call(`/api/cabinet/${token}/shop`)
    expect(shop.json.providers).toEqual([{ id: 'example', label: 'Example Pay' }])
  })

  test('and its notices are described', async () => {
    await begin()
    const { paths, components } = createDocument(w.config)
    expect(Object.keys(paths)).toContain('/payments/webhook/example')
    expect(components.schemas.ProviderId).toEqual({
      type: 'string',
      enum: [...GATEWAY_IDS, 'example'],
    })
  })
})

describe('a payment on the site', () => {
  let id: string
  beforeEach(async () => {
    await begin()
    const token = addUser(w, 1)
    const body = { node: 'de1', plan: '1m', provider: 'example' }
    const made = await w.call(`/api/cabinet/${token}/payments`, { body })
    expect(made.status, made.text).toBe(200)
    id = made.json.id
    const [invoice] = [...fake.invoices.values()]
    expect(made.json.pay_url).toBe(invoice?.url)
    expect(invoice).toMatchObject({ order: id, amount: '199.00', currency: 'RUB' })
  })

  test('is granted by a signed notice, once, and shown under the name of the gateway', async () => {
    const stranger = await notice(w, { order: id, state: 'paid' }, 'another')
    expect([stranger.status, stranger.json.error]).toEqual([401, 'bad signature'])
    expect(sold(w)).toEqual([])
    fake.pay(rowOf(w, id).external_id)
    for (const _ of [1, 2]) {
      expect((await notice(w, { order: id, state: 'paid' })).json).toEqual({ ok: true })
    }
    expect(sold(w)).toHaveLength(1)
    const listed = await w.admin('/admin/api/payments?provider=example')
    expect(listed.json).toEqual([
      expect.objectContaining({ id, status: 'paid', provider_label: 'Example Pay' }),
    ])
  })

  test('is granted by the reconciler where no notice comes', async () => {
    await reconcilePayments(w.s)
    expect(sold(w)).toEqual([])
    fake.pay(rowOf(w, id).external_id)
    w.clock.advance(61_000)
    await reconcilePayments(w.s)
    expect(rowOf(w, id).status).toBe('paid')
    expect(sold(w)).toHaveLength(1)
  })

  test('of a former shop is asked about with the key of that shop', async () => {
    const { external_id } = rowOf(w, id)
    const saved = await w.admin(`${PROVIDERS}/example/settings`, {
      body: { shop: 'shop-2', key: KEY },
    })
    expect(saved.status).toBe(200)
    fake.pay(external_id)
    expect((await w.admin(`/admin/api/payments/${id}/check`, { method: 'POST' })).json).toEqual({
      status: 'paid',
    })
  })

  test('stays as it is for a gateway that has no list of its payments', async () => {
    expect(await auditPayments(w.s)).toBe(true)
    expect(rowOf(w, id).status).toBe('pending')
  })
})

test('a payment in the bot is granted by a notice, and the buyer sees it', async () => {
  const off = Object.fromEntries(GATEWAYS.map(({ enabledKey }) => [enabledKey, 'off']))
  const environment = { ...ENVIRONMENT, ...off, ...SET_UP }
  const shop = await createBotShop({ descriptors, environment })
  try {
    const t = textsOf('en')
    const user = shop.user({ id: 1 })
    await user.say('/buy')
    const bill = await user.tap(monthIn())
    expect(bill.text).toContain('Example Pay')
    const [{ id, provider, external_id }] = shop.w.rows('select * from payments')
    expect(provider).toBe('example')
    await user.tap(t.paid)
    expect(user.notice()).toBe(t.notPaidYet)
    fake.pay(external_id)
    await notice(shop.w, { order: id, state: 'paid' })
    expect(sold(shop.w)).toHaveLength(1)
    shop.w.clock.advance(5000)
    await user.tap(t.paid, bill)
    expect(user.messages()[0]?.reply_markup?.inline_keyboard.flat()).toContainEqual(
      expect.objectContaining({ text: t.my }),
    )
  } finally {
    await shop.close()
  }
})
