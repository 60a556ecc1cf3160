/** What pages are made of: headers, colours, words and QR codes. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { botLink } from '#src/lib/bot-link.ts'
import { apiHeaders, type PageKind, pageCsp, pageHeaders, transportHeaders } from '#src/web/csp.ts'
import { errorPage } from '#src/web/error-page.ts'
import { LANGS, type Lang, pickLang } from '#src/web/lang.ts'
import { accentsOf, contrast } from '#src/web/palette.ts'
import { qrSvg } from '#src/web/qr.ts'
import { FRAME, HUE } from '#test/support/page-frame.ts'
import { decode, drawn, type Modules, QUIET } from '#test/support/qr-decoder.ts'

test.each([
  ['https://t.me', 'aurora_bot', undefined, 'https://t.me/aurora_bot'],
  ['https://t.me/', '@aurora_bot', 'buy_a b', 'https://t.me/aurora_bot?start=buy_a%20b'],
  ['https://t.me', '  ', undefined, null],
  ['javascript:alert(1)//', 'aurora_bot', undefined, null],
  ['https://t.me', 'a/../b"', undefined, 'https://t.me/a%2F..%2Fb%22'],
])('bot link of %s and %s', (base, username, start, expected) => {
  expect(botLink(base, username, start)).toBe(expected)
})

test.each([
  [404, 'Page not found'],
  [429, 'Too many requests'],
  [400, 'This did not work'],
  [503, 'Something went wrong'],
])('error page of %i', (status, title) => {
  const base = { ...FRAME, lang: 'en' as const, brandName: 'A', brandHue: HUE, botUrl: null }
  const page = errorPage({ ...base, status, message: 'why' })
  expect(page).toContain(`<h1>${title}</h1>`)
  expect(page).toContain(`${status} · `)
  expect(page).toContain('why')
  expect(page).not.toMatch(/\bbot\b/)
})

test.each<[string | null, string | undefined, string, Lang]>([
  ['ru-RU,ru;q=0.9,en;q=0.8', undefined, 'en', 'ru'],
  ['en;q=0.5, ru;q=0.7', undefined, 'en', 'ru'],
  ['ru;q=0, en;q=0.1', undefined, 'ru', 'en'],
  ['de, fr', undefined, 'ru', 'ru'],
  ['de', undefined, 'xx', 'en'],
  [null, undefined, 'ru', 'ru'],
  ['ru', 'en', 'ru', 'en'],
  ['ru', 'xx', 'en', 'ru'],
  ['ru;q=9, en;q=0.2', undefined, 'en', 'ru'],
])('language of %s with ?lang=%s and default %s', (accept, query, fallback, expected) => {
  expect(pickLang(LANGS, accept, query, fallback)).toBe(expected)
})

describe('security headers', () => {
  test('allow scripts only where a page has them', () => {
    const csp = (kind: PageKind) => pageCsp({ brandHue: HUE, kind })
    expect(csp('static')).not.toContain('script-src')
    expect(csp('script')).toContain("script-src 'self'; form-action 'none'")
    expect(csp('fetch')).toContain("script-src 'self'; connect-src 'self'")
    for (const kind of ['script', 'fetch'] as const) {
      expect(csp(kind)).toContain("require-trusted-types-for 'script'; trusted-types 'none'")
    }
    for (const kind of ['static', 'script', 'fetch'] as const) {
      expect(csp(kind)).toMatch(/^default-src 'none'; .*base-uri 'none'; frame-ancestors 'none'/)
    }
  })

  test('promise https only where it is', () => {
    expect(transportHeaders('http')).toEqual({})
    expect(transportHeaders('https')).toHaveProperty('Strict-Transport-Security')
    expect(pageHeaders).not.toHaveProperty('Strict-Transport-Security')
    expect(apiHeaders['Content-Security-Policy']).toContain('sandbox')
  })

  test('follow the brand hue', () => {
    for (const brandHue of [0, 90, 359, 360, -1, 12.4, Number.NaN]) {
      const base = { ...FRAME, lang: 'en' as const, brandName: 'A', brandHue, botUrl: null }
      const page = errorPage({ ...base, status: 404, message: '' })
      const css = String(/<style>([\s\S]*?)<\/style>/.exec(page)?.[1])
      const hash = createHash('sha256').update(css).digest('base64')
      expect(pageCsp({ brandHue, kind: 'static' })).toContain(hash)
    }
  })
})

test('accents are readable in every hue', () => {
  for (let hue = 0; hue < 360; hue += 5) {
    const { light, dark } = accentsOf(hue)
    const pairs: [string, string][] = [
      ['#ffffff', light.accent],
      ['#ffffff', light.accentHover],
      ['#ffffff', light.accentText],
      [light.accentSoft, light.accentText],
      ['#ffffff', dark.accent],
      ['#ffffff', dark.accentHover],
      ['#13161d', dark.accentText],
      [dark.accentSoft, dark.accentText],
    ]
    for (const [a, b] of pairs) expect(contrast(a, b), `${hue}: ${a} ${b}`).toBeGreaterThan(4.5)
  }
})

/** The modules of an SVG, quiet zone included. */
function draw(svg: string): Modules {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1])
  return drawn(size, String(/<path [^>]*d="([^"]*)"/.exec(svg)?.[1]))
}

describe('a QR code', () => {
  test.each([
    'https://sub.example.test/sub/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo',
    'http://sub.localhost:3000/sub/AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKK',
    'https://subscriptions.some-long-name.example.test/sub/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWo',
    'short',
  ])('reads as the text it was made of, not mirrored: %s', (text) => {
    expect(decode(draw(qrSvg(text).toString()))).toBe(text)
  })

  test('has a quiet zone of four light modules on white', () => {
    const svg = qrSvg('https://sub.example.test/sub/abc').toString()
    const modules = draw(svg)
    const size = modules.length
    expect((size - 2 * QUIET - 17) % 4).toBe(0)
    for (const [y, row] of modules.entries()) {
      for (const [x, dark] of row.entries()) {
        if (Math.min(x, y, size - 1 - x, size - 1 - y) < QUIET) expect(dark).toBe(false)
      }
    }
    expect(svg).toContain(`<rect width="${size}" height="${size}" fill="#fff"/>`)
    expect(svg.match(/<path/g)).toHaveLength(1)
    expect(svg).not.toContain('style')
  })

  test('has a label that cannot leave its attribute', () => {
    expect(qrSvg('x', '"><b>').toString()).toContain('aria-label="&quot;&gt;&lt;b&gt;"')
  })
})
