import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { accentsOf } from '#src/web/palette.ts'
import { makeFakePanel, PANEL_SCRIPT } from '#test/support/fakes/panel.ts'
import { putSettings } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const folder = makeFakePanel()
afterAll(() => rmSync(folder, { recursive: true }))

let w: World
afterEach(() => w.close())

const bootOf = (text: string) =>
  JSON.parse(
    (/data-boot="([^"]*)"/.exec(text)?.[1] ?? '')
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>'),
  )

describe('the page of the panel', () => {
  test('loads what the build starts with and nothing of its screens', async () => {
    w = await createWorld({ panelFolder: folder, environment: { ADMIN_PATH: 'a/b' } })
    const { text, headers } = await w.call('/a/b')
    const loads = [...text.matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, url]) => url)
    expect(loads).toEqual([
      'data:,',
      '/a/b/assets/onest-latin-4.woff2',
      '/a/b/assets/main-1.css',
      '/a/b/assets/shared-2.css',
      '/a/b/assets/shared-2.js',
      '/a/b/assets/main-1.js',
    ])
    expect(headers.get('cache-control')).toBe('no-cache, must-revalidate')
    expect(text).not.toMatch(/ style="| on[a-z]+="/)
  })

  test('tells the panel what it must know, and nothing secret', async () => {
    w = await createWorld({ panelFolder: folder })
    putSettings(w, { BRAND_NAME: 'A "brand" <b>' })
    const open = await w.call('/admin')
    expect(bootOf(open.text)).toEqual({
      brandName: 'A "brand" <b>',
      lang: 'en',
      authenticated: false,
      basePath: '/admin',
      subUrlBase: 'https://sub.test/sub/',
      siteUrl: 'https://site.test',
      timezone: 'UTC',
      currency: 'RUB',
      version: null,
    })
    expect(open.text).not.toContain('<b>')
    const inside = bootOf((await w.admin('/admin')).text)
    expect([inside.authenticated, inside.version]).toEqual([
      true,
      expect.stringMatching(/^\d+\.\d+\.\d+/),
    ])
  })

  test.each([0, 29, 255])(
    'has the accents of the hue %i, light and dark, which its policy lets in',
    async (hue) => {
      w = await createWorld({ panelFolder: folder })
      putSettings(w, { BRAND_HUE: String(hue) })
      const { text, headers } = await w.call('/admin')
      const [, style = ''] = /<style>([^<]*)<\/style>/.exec(text) ?? []
      const { light, dark } = accentsOf(hue)
      expect([...style.matchAll(/--accent:(#[0-9a-f]{6})/g)].map(([, color]) => color)).toEqual([
        light.accent,
        dark.accent,
        dark.accent,
      ])
      const hash = createHash('sha256').update(style).digest('base64')
      expect(headers.get('content-security-policy')).toContain(`style-src 'self' 'sha256-${hash}'`)
    },
  )

  test.each([
    ['', 'en', null],
    ['panel_lang=ru; panel_theme=dark', 'ru', 'dark'],
    ['panel_lang=xx; panel_theme=blue"', 'en', null],
  ])(
    'with the cookies %j is in %s and loads the build in it, themed %s',
    async (cookie, lang, theme) => {
      w = await createWorld({ panelFolder: folder })
      const { text } = await w.call('/admin', { headers: { cookie } })
      const script = lang === 'ru' ? 'main-5.js' : 'main-1.js'
      expect(text).toContain(`<script type="module" src="/admin/assets/${script}">`)
      expect(/<html[^>]*>/.exec(text)?.[0]).toBe(
        `<html lang="${lang}"${theme ? ` data-theme="${theme}"` : ''}>`,
      )
    },
  )

  test('says what to run while the panel is not built', async () => {
    w = await createWorld()
    const { status, text, headers } = await w.call('/admin')
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-cache, must-revalidate')
    expect(text).toContain('npm run build')
    expect(text).not.toContain('<script')
    const russian = await w.call('/admin', { headers: { 'accept-language': 'ru' } })
    expect(russian.text).toContain('Панель не собрана')
  })
})

describe('the files of the panel', () => {
  test.each(['admin', 'a/b'])('are immutable and only below ADMIN_PATH %s', async (ADMIN_PATH) => {
    w = await createWorld({ panelFolder: folder, environment: { ADMIN_PATH } })
    const script = await w.call(`/${ADMIN_PATH}/assets/main-1.js`)
    expect(script.text).toBe(PANEL_SCRIPT)
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect((await w.call('/assets/main-1.js')).status).toBe(404)
    for (const name of ['main-2.js', 'main-1.js.br', '..%2f.vite%2fmanifest.en.json']) {
      expect((await w.call(`/${ADMIN_PATH}/assets/${name}`)).status, name).toBe(404)
    }
  })

  test.each([
    ['gzip, br', 'br', (bytes: Uint8Array) => brotliDecompressSync(bytes)],
    ['gzip', 'gzip', (bytes: Uint8Array) => gunzipSync(bytes)],
    ['br;q=0, gzip', 'gzip', (bytes: Uint8Array) => gunzipSync(bytes)],
    ['br;q=0, gzip;q=0.0', null, (bytes: Uint8Array) => bytes],
  ])('come compressed to who takes %s', async (accepted, encoding, unpack) => {
    w = await createWorld({ panelFolder: folder })
    const headers = { 'accept-encoding': accepted }
    const { bytes, headers: got } = await w.call('/admin/assets/main-1.js', { headers })
    expect(got.get('content-encoding')).toBe(encoding)
    expect(got.get('vary')).toMatch(/\bAccept-Encoding\b/)
    expect(Buffer.from(unpack(bytes)).toString()).toBe(PANEL_SCRIPT)
  })
})
