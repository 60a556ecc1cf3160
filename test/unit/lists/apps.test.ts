import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  addLink,
  appsOf,
  FILE_APPS,
  findApp,
  fittingApps,
  readApps,
  sendsDeviceId,
  storeLabel,
} from '#src/domain/lists/apps.ts'
import { type App, appCatalogue, SYSTEMS } from '#src/settings/app-catalogue.ts'
import type { LiveKey } from '#src/settings/live.ts'

const SUB_URL = 'https://sub.example.test/sub/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo'
const ENCODED = encodeURIComponent(SUB_URL)
const accepts = (apps: unknown) => v.is(appCatalogue, apps)

const APP: App = {
  id: 'some',
  name: 'Some',
  link: 'clash://install-config?url={url_encoded}',
  stores: { ios: [{ label: 'Store', url: 'https://example.test/app' }] },
}
const settingsWith = (text: string) => ({
  text: (key: LiveKey) => (key === 'APP_CATALOGUE' ? text : ''),
  flag: () => false,
  int: () => 0,
  gateways: [],
  ofGateway: () => '',
  live: {},
})

describe('the catalogue that comes with the service', () => {
  test('links to each app with the subscription URL as that app reads it', () => {
    const links = Object.fromEntries(FILE_APPS.map((app) => [app.id, addLink(app, SUB_URL)]))
    expect(links).toEqual({
      happ: `happ://add/${SUB_URL}`,
      incy: `incy://add/${SUB_URL}`,
      v2raytun: `v2raytun://import/${SUB_URL}`,
      hiddify: `hiddify://import/${SUB_URL}`,
      streisand: `streisand://import/${SUB_URL}`,
      v2rayng: `v2rayng://install-config?url=${ENCODED}`,
      flclashx: `flclashx://install-config?url=${ENCODED}`,
    })
  })

  test('recommends Happ on every system', () => {
    for (const system of SYSTEMS) expect(appsOf(FILE_APPS, system)[0]?.id).toBe('happ')
  })

  test('knows which apps send no device id', () => {
    const without = FILE_APPS.filter((app) => !sendsDeviceId(app)).map(({ id }) => id)
    expect(without).toEqual(['hiddify', 'streisand', 'v2rayng'])
  })

  test('finds apps by their id only', () => {
    expect(findApp(FILE_APPS, 'happ')?.name).toBe('Happ')
    for (const id of ['', 'HAPP', '__proto__', 'constructor', 'happ/..']) {
      expect(findApp(FILE_APPS, id)).toBeUndefined()
    }
  })

  test('leads to stores by https', () => {
    const stores = FILE_APPS.flatMap((app) => Object.values(app.stores).flat())
    expect(stores.length).toBeGreaterThan(20)
    for (const { url } of stores) expect(new URL(url).protocol).toBe('https:')
  })
})

test('a link takes the URL as it is, as a query value, or as base64url', () => {
  const linkOf = (link: string) => addLink({ ...APP, link }, SUB_URL)
  expect(linkOf('happ://add/{url}#x')).toBe(`happ://add/${SUB_URL}#x`)
  expect(linkOf('clash://x?url={url_encoded}&y=1')).toBe(`clash://x?url=${ENCODED}&y=1`)
  const base64 = linkOf('sub://{url_base64}').slice('sub://'.length)
  expect(Buffer.from(base64, 'base64url').toString()).toBe(SUB_URL)
})

test('where devices are limited, apps without a device id are offered only if there is no other', () => {
  const sends = { ...APP, id: 'sends', device_id: true }
  const silent = { ...APP, id: 'silent', device_id: false }
  const of = (apps: App[], limited: boolean) => {
    const { apps: fitting, unfit } = fittingApps(apps, limited)
    return [...fitting.map(({ id }) => id), unfit]
  }
  expect(of([silent, APP, sends], false)).toEqual(['silent', 'some', 'sends', false])
  expect(of([silent, APP, sends], true)).toEqual(['some', 'sends', false])
  expect(of([silent], true)).toEqual(['silent', true])
  expect(of([silent], false)).toEqual(['silent', false])
  expect(of([], true)).toEqual([false])
})

describe('a catalogue is refused', () => {
  const store = APP.stores.ios?.[0] as NonNullable<App['stores']['ios']>[number]
  const withStore = (more: object) => ({ ...APP, stores: { ios: [{ ...store, ...more }] } })
  test.each<[string, unknown]>([
    ['no list', { apps: [APP] }],
    ['no app', []],
    ['two apps of one id', [APP, APP]],
    ['a scheme that browsers run', [{ ...APP, link: 'javascript://{url}' }]],
    ['data', [{ ...APP, link: 'data:text/html,{url}' }]],
    ['a web address as link', [{ ...APP, link: 'https://evil.test/{url}' }]],
    ['a scheme in capitals', [{ ...APP, link: 'HAPP://add/{url}' }]],
    ['a scheme behind a space', [{ ...APP, link: ' happ://add/{url}' }]],
    ['a link without the URL', [{ ...APP, link: 'happ://add/' }]],
    ['a link with the URL twice', [{ ...APP, link: 'happ://{url}/{url}' }]],
    ['an unknown placeholder', [{ ...APP, link: 'happ://{token}{url}' }]],
    ['a link with quotes', [{ ...APP, link: 'happ://"{url}' }]],
    ['an id with a slash', [{ ...APP, id: 'a/b' }]],
    ['an empty name', [{ ...APP, name: ' ' }]],
    ['a name of two lines', [{ ...APP, name: 'a\nb' }]],
    ['an unknown system', [{ ...APP, stores: { beos: [store] } }]],
    ['a system without stores', [{ ...APP, stores: { ios: [] } }]],
    ['a store by http', [withStore({ url: 'http://example.test/' })]],
    ['a store of a script', [withStore({ url: 'javascript:alert(1)' })]],
    ['a store without a host', [withStore({ url: 'https://' })]],
    ['a label of no language', [withStore({ label: { english: 'x' } })]],
    ['a device id that is neither sent nor not', [{ ...APP, device_id: 'no' }]],
    ['an unknown field', [{ ...APP, more: 1 }]],
  ])('for %s', (_what, apps) => {
    expect(accepts(apps)).toBe(false)
  })

  test('and a sound one is taken', () => {
    expect(accepts([APP])).toBe(true)
    expect(accepts([withStore({ label: { en: 'Store', fa: 'فروشگاه' } })])).toBe(true)
    expect(accepts([{ ...APP, stores: {} }])).toBe(true)
    expect(accepts([{ ...APP, device_id: false }])).toBe(true)
  })
})

describe('the catalogue of the settings', () => {
  test('counts when it is sound', () => {
    expect(readApps(settingsWith(JSON.stringify([APP])))).toEqual([APP])
  })

  test.each(['', '[', '[]', '{}', '[{"id":"x"}]', 'null'])(
    'leaves the one of the service in place when it is %j',
    (text) => {
      expect(readApps(settingsWith(text))).toBe(FILE_APPS)
    },
  )
})

test.each([
  ['Store', 'ru', 'Store'],
  [{ en: 'Store', ru: 'Магазин' }, 'ru', 'Магазин'],
  [{ en: 'Store', ru: 'Магазин' }, 'fa', 'Store'],
  [{ ru: 'Магазин' }, 'en', 'Магазин'],
  [{}, 'en', ''],
])('the store label %j in %s is %s', (label, lang, text) => {
  expect(storeLabel({ label, url: '' }, lang)).toBe(text)
})
