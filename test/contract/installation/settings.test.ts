import { expect } from 'vitest'
import { path, refusals } from '#test/support/calls/settings-calls.ts'
import { putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'

const post = (name: string) => (body: unknown) => ({ path: path(name), body })

/** A change, what it answers, and that the next GET says the same. */
const saved = (name: string, body: unknown, after: unknown, keys: string): Scenario => ({
  name: `200 and saved: ${JSON.stringify(body).slice(0, 70)}`,
  request: { path: path(name), body },
  status: 200,
  body: after,
  effects: async (w) => {
    expect((await w.admin(path(name))).json).toEqual(after)
    expect(w.rows('select admin, action, object, detail from audit_log')).toEqual([
      { admin: 'admin', action: 'settings.change', object: keys, detail: '' },
    ])
  },
})

const brand = { brand_name: 'Subpanel', brand_hue: 255 }

scenarios('settings/brand', [
  { name: '200 with the defaults', request: { path: path('brand') }, status: 200, body: brand },
  {
    name: '200 with the values of the environment',
    world: { environment: { BRAND_NAME: 'Env', BRAND_HUE: '12' } },
    request: { path: path('brand') },
    status: 200,
    body: { brand_name: 'Env', brand_hue: 12 },
  },
  saved('brand', { brand_name: '  Aurora ' }, { ...brand, brand_name: 'Aurora' }, 'BRAND_NAME'),
  saved('brand', { brand_hue: 0, other: 1 }, { ...brand, brand_hue: 0 }, 'BRAND_HUE'),
  saved(
    'brand',
    { brand_name: '<b>&"', brand_hue: 360 },
    { brand_name: '<b>&"', brand_hue: 360 },
    'BRAND_NAME BRAND_HUE',
  ),
  {
    name: '200 and pages and lists have the new name at once',
    given: (w) => w.call('/', { host: 'site.test' }),
    request: post('brand')({ brand_name: 'Новое & имя' }),
    status: 200,
    effects: async (w) => {
      const { text } = await w.call('/', { host: 'site.test' })
      expect(text).toContain('Новое &amp; имя')
    },
  },
  ...refusals('brand', [
    [{}, 'nothing to change'],
    [{ name: 'x' }, 'nothing to change'],
    [{ brand_name: '' }, 'brand_name must not be empty'],
    [{ brand_name: ' \t\n' }, 'brand_name must not be empty'],
    [{ brand_name: 'x'.repeat(65) }, 'brand_name must have at most 64 characters'],
    [{ brand_name: 'a\nb' }, 'brand_name must be one line without control characters'],
    [{ brand_name: 'a\u0000b' }, /^brand_name must be one line/],
    [{ brand_name: 'a\u2028b' }, /^brand_name must be one line/],
    [{ brand_name: 'a\ud800b' }, /^brand_name must be one line/],
    [{ brand_name: null }, 'brand_name must be a string'],
    [{ brand_name: 7 }, 'brand_name must be a string'],
    [{ brand_hue: 361 }, 'brand_hue must be a whole number from 0 to 360'],
    [{ brand_hue: -1 }, /^brand_hue/],
    [{ brand_hue: 1.5 }, /^brand_hue/],
    [{ brand_hue: '12' }, /^brand_hue/],
    [{ brand_name: 'Fine', brand_hue: 999 }, /^brand_hue/],
    [[], 'the body must be a JSON object'],
  ]),
])

scenarios('settings/alerts', [
  {
    name: '200 with nobody',
    request: { path: path('alerts') },
    status: 200,
    body: { admin_tg_ids: [] },
  },
  {
    name: '200 with the ids of the environment',
    world: { environment: { ADMIN_TG_IDS: '7, 8  9' } },
    request: { path: path('alerts') },
    status: 200,
    body: { admin_tg_ids: [7, 8, 9] },
  },
  saved(
    'alerts',
    { admin_tg_ids: [5, 9007199254740991, 5] },
    { admin_tg_ids: [5, 9007199254740991] },
    'ADMIN_TG_IDS',
  ),
  {
    name: '200 and an empty list wins over the environment',
    world: { environment: { ADMIN_TG_IDS: '7' } },
    request: post('alerts')({ admin_tg_ids: [] }),
    status: 200,
    body: { admin_tg_ids: [] },
    effects: async (w) =>
      expect((await w.admin(path('alerts'))).json).toEqual({ admin_tg_ids: [] }),
  },
  ...refusals('alerts', [
    [{}, 'nothing to change'],
    [{ ids: [1] }, 'nothing to change'],
    [{ admin_tg_ids: '5' }, 'admin_tg_ids must be a list of Telegram ids'],
    [{ admin_tg_ids: null }, /^admin_tg_ids must be a list/],
    [{ admin_tg_ids: ['5'] }, /^admin_tg_ids\.0 must be a whole number/],
    [{ admin_tg_ids: [5, 0] }, /^admin_tg_ids\.1 must be a whole number/],
    [{ admin_tg_ids: [1.5] }, /^admin_tg_ids\.0/],
    [{ admin_tg_ids: [-1] }, /^admin_tg_ids\.0/],
    [{ admin_tg_ids: [2 ** 53] }, /^admin_tg_ids\.0/],
    [{ admin_tg_ids: Array(101).fill(1) }, 'admin_tg_ids must have at most 100 ids'],
  ]),
])

const receipts = { mode: 'off', email: '', vat_code: 1 }

scenarios('settings/receipts', [
  {
    name: '200 with the defaults',
    request: { path: path('receipts') },
    status: 200,
    body: receipts,
  },
  {
    name: '200 with the values of the environment',
    world: { environment: { RECEIPT_MODE: 'auto', RECEIPT_EMAIL: 'a@b.test', VAT_CODE: '11' } },
    request: { path: path('receipts') },
    status: 200,
    body: { mode: 'auto', email: 'a@b.test', vat_code: 11 },
  },
  saved(
    'receipts',
    { mode: 'on', email: ' shop@example.test ', vat_code: 12 },
    { mode: 'on', email: 'shop@example.test', vat_code: 12 },
    'RECEIPT_MODE RECEIPT_EMAIL VAT_CODE',
  ),
  saved('receipts', { mode: 'auto' }, { ...receipts, mode: 'auto' }, 'RECEIPT_MODE'),
  saved('receipts', { email: '' }, receipts, 'RECEIPT_EMAIL'),
  saved('receipts', { vat_code: 4 }, { ...receipts, vat_code: 4 }, 'VAT_CODE'),
  ...refusals('receipts', [
    [{}, 'nothing to change'],
    [{ mode: 'ON' }, 'mode must be off, auto or on'],
    [{ mode: true }, 'mode must be off, auto or on'],
    [{ email: 'shop' }, 'email must be an e-mail address'],
    [{ email: 'a b@c.test' }, 'email must be an e-mail address'],
    [{ email: 'a@b.test\nBcc: x@y.test' }, /^email must be one line/],
    [{ email: null }, 'email must be a string'],
    [{ vat_code: 0 }, 'vat_code must be a whole number from 1 to 12'],
    [{ vat_code: 13 }, /^vat_code/],
    [{ vat_code: '1' }, /^vat_code/],
    [{ mode: 'on', vat_code: 99 }, /^vat_code/],
  ]),
])

scenarios('settings that no session asks for', [
  {
    name: '401 and nothing is said of the bot',
    given: (w) => putSettings(w, { BOT_USERNAME: 'shop_bot' }),
    request: { path: path('bot'), anonymous: true },
    status: 401,
    error: 'unauthorized',
  },
])
