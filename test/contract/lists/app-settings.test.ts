import { expect } from 'vitest'
import { FILE_APPS } from '#src/domain/lists/apps.ts'
import { APP_SCHEMES } from '#src/settings/app-catalogue.ts'
import { auditOf, putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'

const PATH = '/admin/api/settings/apps'
const STORES = { ios: [{ label: { en: 'Store', ru: 'Магазин' }, url: 'https://example.test/app' }] }
const APP = { id: 'own', name: 'Own', link: 'clash://add?url={url_encoded}', stores: STORES }
const DEFAULT = { apps: FILE_APPS, changed: false, schemes: APP_SCHEMES }

const refused = (what: string, apps: unknown, error: string | RegExp): Scenario => ({
  name: `400 for ${what}`,
  request: { path: PATH, body: { apps } },
  status: 400,
  error,
  effects: async (w) => expect((await w.admin(PATH)).json).toEqual(DEFAULT),
})

scenarios('settings/apps', [
  {
    name: '200 with the apps that come with the service',
    request: { path: PATH },
    status: 200,
    body: DEFAULT,
  },
  {
    name: '200 with the apps of the environment',
    world: { environment: { APP_CATALOGUE: JSON.stringify([APP]) } },
    request: { path: PATH },
    status: 200,
    body: { ...DEFAULT, apps: [APP], changed: true },
  },
  {
    name: '200 with the apps of the service where what is stored is no catalogue',
    given: (w) => putSettings(w, { APP_CATALOGUE: '[{"id":"x"}]' }),
    request: { path: PATH },
    status: 200,
    body: { ...DEFAULT, changed: true },
  },
  {
    name: '200 and saved: pages, bridge pages and the audit log know at once',
    given: async (w) => {
      await w.call('/', { host: 'site.test' })
      w.change(
        "insert into users (tg_id, token, created_at) values (7, 'token-of-seven', '2026-01-01T00:00:00')",
      )
    },
    request: { path: PATH, body: { apps: [{ ...APP, name: ' Own ', device_id: false }] } },
    status: 200,
    body: { ...DEFAULT, apps: [{ ...APP, device_id: false }], changed: true },
    effects: async (w) => {
      expect((await w.admin(PATH)).json.apps).toEqual([{ ...APP, device_id: false }])
      const own = await w.call('/sub/token-of-seven/open/own', { host: 'sub.test' })
      expect(own.status).toBe(200)
      expect(own.text).toContain(
        'href="clash://add?url=https%3A%2F%2Fsub.test%2Fsub%2Ftoken-of-seven"',
      )
      expect((await w.call('/sub/token-of-seven/open/happ', { host: 'sub.test' })).status).toBe(404)
      expect(auditOf(w)).toEqual(['settings.change'])
    },
  },
  {
    name: '200 and null brings the apps of the service back',
    given: (w) => putSettings(w, { APP_CATALOGUE: JSON.stringify([APP]) }),
    request: { path: PATH, body: { apps: null } },
    status: 200,
    body: DEFAULT,
    effects: (w) =>
      expect(w.rows("select 1 from settings where key = 'APP_CATALOGUE'")).toEqual([]),
  },
  {
    name: '400 for nothing',
    request: { path: PATH, body: { other: 1 } },
    status: 400,
    error: 'nothing to change',
  },
  refused('no list', 'x', 'apps must be a list of apps'),
  refused('an empty list', [], 'apps must have at least 1 app'),
  refused(
    '31 apps',
    Array.from({ length: 31 }, (_, i) => ({ ...APP, id: `a${i}` })),
    'apps must have at most 30 apps',
  ),
  refused('two apps of one id', [APP, APP], 'apps must have different ids'),
  refused(
    'a scheme that browsers run',
    [APP, { ...APP, id: 'b', link: 'javascript://{url}' }],
    /^apps\.1\.link must be the scheme of a known app/,
  ),
  ...[
    'clash://install-config?url=https://evil.test/?u={url_encoded}',
    'clash://install-config?url=https%3A%2F%2Fevil.test/?u={url_encoded}',
    'clash://install-config?url=https:evil.test/?u={url}',
    'clash://install-config?url=//evil.test/?u={url}',
    'clash://install-config?url=evil.test%2F{url_encoded}',
    'happ://add/evil.test/{url}',
    'hiddify://import/evil.test/?u={url}',
    'sub://aHR0cHM6Ly9ldmlsLnRlc3QvYT91PT09{url_base64}',
  ].map((link) =>
    refused(
      `${link}, which leads the customer's link to an address`,
      [{ ...APP, link }],
      /^apps\.0\.link must be the scheme of a known app/,
    ),
  ),
  refused(
    'a store by http',
    [{ ...APP, stores: { ios: [{ label: 'x', url: 'http://example.test' }] } }],
    'apps.0.stores.ios.0.url must be an https address',
  ),
  refused('an app without a name', [{ ...APP, name: '' }], 'apps.0.name must not be empty'),
  refused(
    'a device id that is neither sent nor not',
    [{ ...APP, device_id: 'no' }],
    'apps.0.device_id must be true or false',
  ),
  refused('an unknown field', [{ ...APP, icon: 'x' }], 'unknown field'),
])
