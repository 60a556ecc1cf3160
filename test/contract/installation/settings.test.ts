import { expect } from 'vitest'
import { auditOf, putSettings } from '#test/support/records.ts'
import { type Scenario, scenarios } from '#test/support/scenario.ts'
import type { World } from '#test/support/world.ts'

const path = (name: string) => `/admin/api/settings/${name}`
const post = (name: string) => (body: unknown) => ({ path: path(name), body })

/** Refusals of one route. */
const refusals = (name: string, list: [body: unknown, error: string | RegExp][]): Scenario[] => [
  ...list.map(
    ([body, error]): Scenario => ({
      name: `400 and nothing is applied: ${JSON.stringify(body).slice(0, 70)}`,
      request: { path: path(name), body },
      status: 400,
      error,
      effects: (w) => expect(auditOf(w)).toEqual([]),
    }),
  ),
  {
    name: '400 for a malformed body',
    request: { path: path(name), raw: '{"' },
    status: 400,
    error: 'invalid JSON',
  },
]

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

const none = { url: '', has_secret: false }
const HOOK = 'https://hook.test/in?x=1'
const webhookRows = (w: World) =>
  w.rows("select key, value from settings where key like 'WEBHOOK%' order by key")

scenarios('settings/webhook', [
  { name: '200 with nothing set', request: { path: path('webhook') }, status: 200, body: none },
  {
    name: '200 with the values of the environment, the secret only told of',
    world: { environment: { WEBHOOK_URL: HOOK, WEBHOOK_SECRET: 'secret-of-env' } },
    request: { path: path('webhook') },
    status: 200,
    body: { url: HOOK, has_secret: true },
  },
  {
    name: '200 with the secret once, when the first address is saved',
    request: post('webhook')({ url: ` ${HOOK} ` }),
    status: 200,
    effects: async (w, _given, { json }) => {
      expect(json).toEqual({ ok: true, url: HOOK, secret: expect.stringMatching(/^[0-9a-f]{64}$/) })
      expect(webhookRows(w)).toEqual([
        { key: 'WEBHOOK_SECRET', value: json.secret },
        { key: 'WEBHOOK_URL', value: HOOK },
      ])
      const again = await w.admin(path('webhook'), { body: { url: 'http://10.0.0.5:5678/x' } })
      expect(again.json).toEqual({ ok: true, url: 'http://10.0.0.5:5678/x' })
      const off = await w.admin(path('webhook'), { body: { url: '' } })
      expect(off.json).toEqual({ ok: true, url: '' })
      const on = await w.admin(path('webhook'), { body: { url: HOOK } })
      expect(on.json).toEqual({ ok: true, url: HOOK })
      expect(webhookRows(w)[0]).toEqual({ key: 'WEBHOOK_SECRET', value: json.secret })
      expect((await w.admin(path('webhook'))).json).toEqual({ url: HOOK, has_secret: true })
      expect(w.rows('select object from audit_log order by id').map((row) => row.object)).toEqual([
        'WEBHOOK_URL WEBHOOK_SECRET',
        'WEBHOOK_URL',
        'WEBHOOK_URL',
        'WEBHOOK_URL',
      ])
      expect(JSON.stringify(w.rows('select * from audit_log'))).not.toContain(json.secret)
      expect(w.log.join('\n')).not.toContain(json.secret)
    },
  },
  {
    name: '200 without a secret while none is needed: an empty address first',
    request: post('webhook')({ url: '' }),
    status: 200,
    body: { ok: true, url: '' },
    effects: async (w) => expect((await w.admin(path('webhook'))).json).toEqual(none),
  },
  {
    name: '200 and the secret of the environment stays',
    world: { environment: { WEBHOOK_SECRET: 'secret-of-env' } },
    request: post('webhook')({ url: HOOK }),
    status: 200,
    body: { ok: true, url: HOOK },
    effects: (w) => expect(webhookRows(w)).toEqual([{ key: 'WEBHOOK_URL', value: HOOK }]),
  },
  {
    name: '200 and of the events only those are sent that come after the address was saved',
    given: (w) => w.admin('/admin/api/users/7/grant', { body: { node: 'de1', plan: '1m' } }),
    request: post('webhook')({ url: 'http://127.0.0.1:1/' }),
    status: 200,
    effects: async (w) => {
      await w.admin('/admin/api/users/7/grant', { body: { node: 'de1', plan: '1m' } })
      await w.s.background.idle()
      expect(w.rows('select status, error from events order by rowid')).toEqual([
        { status: 'skipped', error: null },
        { status: 'failed', error: 'connection refused' },
      ])
    },
  },
  {
    name: '200 with a new secret when it is rotated',
    given: async (w) => (await w.admin(path('webhook'), { body: { url: HOOK } })).json.secret,
    request: { path: path('webhook/rotate-secret'), method: 'POST' },
    status: 200,
    effects: (w, before, { json }) => {
      expect(json).toEqual({ ok: true, secret: expect.stringMatching(/^[0-9a-f]{64}$/) })
      expect(json.secret).not.toBe(before)
      expect(webhookRows(w)[0]).toEqual({ key: 'WEBHOOK_SECRET', value: json.secret })
      expect(JSON.stringify(w.rows('select * from audit_log'))).not.toContain(json.secret)
      expect(auditOf(w)).toEqual(['settings.change', 'settings.change'])
    },
  },
  ...refusals('webhook', [
    [{}, 'url is missing or of the wrong type'],
    [{ url: null }, 'url must be a string'],
    [{ url: 5 }, 'url must be a string'],
    [{ url: 'hook.test' }, 'url must be an http or https address'],
    [{ url: '//hook.test/' }, /^url must be an http/],
    [{ url: 'ftp://hook.test/' }, /^url must be an http/],
    [{ url: 'javascript:alert(1)' }, /^url must be an http/],
    [{ url: 'file:///etc/passwd' }, /^url must be an http/],
    [{ url: 'https://' }, /^url must be an http/],
    [{ url: 'https://hook.test/a b' }, /^url must be an http/],
    [{ url: 'https://hook.test/\nX-Evil: 1' }, 'url must be one line without control characters'],
    [{ url: 'ht\ttps://hook.test/' }, /^url must be one line/],
    [{ url: 'https://user:pass@hook.test/' }, 'url must not hold a name or a password'],
    [{ url: 'https://user@hook.test/' }, 'url must not hold a name or a password'],
    [{ url: `https://hook.test/${'x'.repeat(2048)}` }, 'url must have at most 2048 characters'],
    ...[
      'http://169.254.169.254/latest/meta-data',
      'http://0xa9fea9fe/',
      'http://2852039166/',
      'http://0251.0376.0251.0376/',
      'http://169.254.43518/',
      'http://[::ffff:169.254.169.254]/',
      'http://[fe80::1]/',
      'http://[fd00:ec2::254]/',
      'http://0.0.0.0/',
      'http://224.0.0.1/',
      'http://[ff02::1]/',
      'http://[64:ff9b::a9fe:a9fe]/',
      'http://[2002:a9fe:a9fe::]/',
    ].map((url): [unknown, string] => [{ url }, 'url leads to an address that is not allowed']),
  ]),
])

scenarios(
  'settings/webhook with OUTBOUND_DENY_PRIVATE=1',
  [
    ...['http://127.0.0.1:5678/', 'http://10.1.2.3/', 'http://[::1]/', 'http://[fd12::1]/'].map(
      (url): Scenario => ({
        name: `400 for ${url}`,
        request: post('webhook')({ url }),
        status: 400,
        error: 'url leads to an address that is not allowed',
      }),
    ),
    { name: '200 for a public one', request: post('webhook')({ url: HOOK }), status: 200 },
  ],
  { environment: { OUTBOUND_DENY_PRIVATE: '1' } },
)

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
