/** The settings of the webhook. */
import { expect } from 'vitest'
import { path, refusals } from '#test/support/calls/settings-calls.ts'
import { auditOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const post = (name: string) => (body: unknown) => ({ path: path(name), body })
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
      expect(w.rows('select status, error from events order by seq')).toEqual([
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
