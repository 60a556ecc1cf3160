import { describe, expect, test } from 'vitest'
import { putSettings } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld } from '#test/support/worlds/world.ts'

const LEGAL = {
  LEGAL_NAME: 'ИП Иванов & "Co" <x>',
  LEGAL_INN: '0123456789',
  REFUND_HOURS: '36',
  SUPPORT_CONTACT: '@help_desk',
  SUPPORT_EMAIL: 'help@example.test',
  OFFER_EFFECTIVE_DATE: '05.02.2026',
  BOT_USERNAME: 'shop_bot',
  BRAND_NAME: 'Aurora',
}
const ESCAPED = { ...LEGAL, LEGAL_NAME: 'ИП Иванов &amp; &quot;Co&quot; &lt;x&gt;' }
const on = (path: string, lang = 'ru') => ({
  path,
  host: 'site.test',
  headers: { 'accept-language': lang },
})

for (const path of ['/offer', '/privacy']) {
  const used = Object.entries(ESCAPED).filter(
    ([key]) => path === '/offer' || key !== 'REFUND_HOURS',
  )
  scenarios(`GET ${path}`, [
    ...[
      ['ru', 'ещё не задано (not set yet)'],
      ['en', 'not set yet'],
    ].map(
      ([lang, badge]): Scenario => ({
        name: `200 in ${lang} with a visible badge for each value that is not set`,
        request: on(path, lang),
        status: 200,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-cache',
          'x-robots-tag': null,
          vary: /Accept-Language/,
        },
        effects: (_w, _given, { text }) => {
          expect(text).toContain(`<html lang="${lang}">`)
          expect(text).toContain(`<span class="not-set">${badge}</span>`)
          expect(text).not.toContain('{{')
          expect(text).toContain('site.test')
          expect(text).not.toMatch(/<script|noindex/)
        },
      }),
    ),
    {
      name: '200 with every value of now, escaped, and no badge',
      given: (w) => putSettings(w, LEGAL),
      request: on(path),
      status: 200,
      effects: (_w, _given, { text }) => {
        for (const [key, value] of used) expect(text, key).toContain(value)
        expect(text).not.toContain('<span class="not-set">')
        expect(text).not.toContain('{{')
        expect(text).not.toContain('<x>')
      },
    },
    {
      name: '200 with the values of the environment while nothing is saved',
      world: { environment: LEGAL },
      request: on(path, 'en'),
      status: 200,
      effects: (_w, _given, { text }) => {
        for (const [key, value] of used) expect(text, key).toContain(value)
      },
    },
    {
      name: '200 and what an admin saves is on the page at once',
      given: (w) => w.call(path, { host: 'site.test' }),
      request: {
        path: '/admin/api/payments/legal-settings',
        body: { LEGAL_NAME: '{{BOT_TOKEN}}<script>alert(1)</script>' },
      },
      status: 200,
      effects: async (w) => {
        const { text } = await w.call(path, { host: 'site.test' })
        expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
        expect(text).not.toMatch(/\{\{|<script/)
        expect(text).toContain('01.03.2026')
      },
    },
    {
      name: '200 in the language of ?lang= and with links between sections',
      request: { ...on(`${path}?lang=en`), headers: { 'accept-language': 'ru' } },
      status: 200,
      effects: (_w, _given, { text }) => {
        expect(text).toContain('<html lang="en">')
        for (const [, id] of text.matchAll(/href="#([\w-]+)"/g)) {
          expect(text).toContain(`<h2 id="${id}">`)
        }
        expect(text).toMatch(/href="#[\w-]+"/)
      },
    },
    { name: '200 for HEAD', request: { ...on(path), method: 'HEAD' }, status: 200, body: '' },
    {
      name: '405 for POST',
      request: { ...on(path), method: 'POST' },
      status: 405,
      headers: { allow: 'GET, HEAD' },
    },
  ])
}

describe('the way to the legal pages', () => {
  test('is on the landing page and on themselves, at the address of the site', async () => {
    const w = await createWorld()
    try {
      for (const path of ['/', '/offer', '/privacy']) {
        const { text } = await w.call(path, { host: 'sub.test' })
        expect(text, path).toContain('href="https://site.test/offer"')
        expect(text, path).toContain('href="https://site.test/privacy"')
      }
    } finally {
      w.close()
    }
  })

  test('shows no secret, whatever a template asks for', async () => {
    const environment = {
      BOT_TOKEN: '1:secret-token',
      PROVIDER_A_SECRET_KEY: 'secret-key-a',
      WEBHOOK_SECRET: 'secret-hook',
    }
    const w = await createWorld({ environment })
    try {
      for (const path of ['/', '/offer', '/privacy', '/pay/done', '/cabinet.html', '/api/plans']) {
        expect((await w.call(path, { host: 'site.test' })).text, path).not.toMatch(/secret-/)
      }
    } finally {
      w.close()
    }
  })
})
