import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { FILE_APPS, findApp } from '#src/domain/lists/apps.ts'
import { botLink } from '#src/lib/bot-link.ts'
import { cabinetPage } from '#src/web/cabinet-page.ts'
import { type PageKind, pageCsp } from '#src/web/csp.ts'
import { errorPage } from '#src/web/error-page.ts'
import { expiredPage } from '#src/web/expired-page.ts'
import { landingPage } from '#src/web/landing-page.ts'
import { LANGS, type Lang } from '#src/web/lang.ts'
import { legalPage } from '#src/web/legal-page.ts'
import { readPageScripts } from '#src/web/page-scripts.ts'
import { panelUnbuiltPage } from '#src/web/panel-unbuilt-page.ts'
import { payDonePage } from '#src/web/pay-done-page.ts'
import { stringsOf } from '#src/web/strings.ts'
import { openPage, subPage } from '#src/web/sub-page.ts'
import { BOT, FRAME, HUE, SUB_URL } from '#test/support/page-frame.ts'

const COMMON = {
  ipad: false,
  limited: false,
  inTelegram: false,
  paused: [] as never[],
  selling: true,
  accountUrl: 'https://site.test/cabinet.html#secret',
}

const VISIT = { ...FRAME, ...COMMON, apps: FILE_APPS, system: 'ios', visitor: 'ios' } as const

const LEGAL_TOKENS = ['LEGAL_NAME', 'LEGAL_INN', 'REFUND_HOURS', 'SUPPORT_CONTACT', 'SUPPORT_EMAIL']

LEGAL_TOKENS.push('BRAND_NAME', 'BOT_USERNAME', 'OFFER_EFFECTIVE_DATE', 'SITE_DOMAIN', 'SUB_DOMAIN')

/** Every page with `text` wherever a person or a node may choose the words. */
function pages(lang: Lang, text: string): Record<string, { kind: PageKind; markup: string }> {
  const own = { helpUrl: text, siteUrl: text, accountUrl: text }
  const base = { ...VISIT, ...own, lang, brandName: text, brandHue: HUE }
  const evil = {
    id: 'evil',
    name: text,
    link: `happ://${text}{url}`,
    stores: { ios: [{ label: { en: text, ru: text }, url: text }] },
  }
  const apps = [evil, evil]
  const app = findApp(FILE_APPS, 'happ')
  if (!app) throw new Error('no happ')
  const subscription = {
    nodeLabel: text,
    planLabel: text,
    expiresOn: text,
    daysToGo: 23,
    planDays: 90,
  }
  const botUrl = botLink('https://t.me', text)
  const plans = [{ code: text, label: text, days: 30, price: 199, sold: true }]
  const shop = { plans, currency: text, nodeLabels: [text], deviceLimit: 3 }
  const devices = { count: 3, limit: 3 }
  const links = { botUrl, renewUrl: text, devices }
  const ended = { renewUrl: text, endedOn: text, paused: false }
  const legal = { tokens: new Map(LEGAL_TOKENS.map((name) => [name, text])) }
  const of = (kind: PageKind, markup: string) => ({ kind, markup })
  return {
    sub: of(
      'script',
      subPage({ ...base, ...links, subUrl: SUB_URL, subscriptions: [subscription] }),
    ),
    hostileUrl: of(
      'script',
      subPage({ ...base, ...links, apps, subUrl: text, subscriptions: [subscription] }),
    ),
    open: of('script', openPage({ ...base, app, subUrl: text })),
    hostileApp: of('script', openPage({ ...base, app: evil, subUrl: text })),
    expired: of('static', expiredPage({ ...base, ...ended, botUrl: text })),
    expiredWithoutBot: of('static', expiredPage({ ...base, ...ended, botUrl: null })),
    none: of('static', expiredPage({ ...base, ...ended, endedOn: null, botUrl: text })),
    paused: of('static', expiredPage({ ...base, ...ended, botUrl: text, paused: true })),
    landing: of('static', landingPage({ ...base, ...shop, ...BOT, botUsername: text })),
    landingWithoutBot: of('static', landingPage({ ...base, ...shop, ...BOT, botUsername: '' })),
    paid: of('static', payDonePage({ ...base, botUrl })),
    offer: of('static', legalPage({ ...base, ...legal, document: 'offer' })),
    privacy: of('static', legalPage({ ...base, ...legal, document: 'privacy' })),
    error: of('static', errorPage({ ...base, status: 404, message: text, botUrl })),
    panelUnbuilt: of('static', panelUnbuiltPage(base)),
    cabinet: of(
      'fetch',
      cabinetPage({ ...base, botUrl, changes: { servers: true, plans: true }, timezone: text }),
    ),
  }
}

const everyPage = (text: string) =>
  LANGS.flatMap((lang) =>
    Object.entries(pages(lang, text)).map(([name, page]) => ({ name, lang, ...page })),
  )

const HOSTILE = `"><img src=x onerror=alert(1)> style="x" 'onclick='a' </title><script>alert(1)</script>&lt;`

const withoutStyle = (markup: string) => markup.replace(/<style>[\s\S]*?<\/style>/, '')

/** Tags as a browser reads them: quoted attribute values skipped. */
const tagsOf = (markup: string) =>
  [...withoutStyle(markup).matchAll(/<[a-z](?:"[^"]*"|[^">])*>/gi)].map(([tag]) => tag)

const namesOf = (tag: string) =>
  [...tag.replace(/"[^"]*"/g, '""').matchAll(/\s([^\s=>"/]+)/g)].map((match) => match[1] as string)

describe('every page', () => {
  test.each(everyPage(HOSTILE))('escapes hostile text: $name in $lang', ({ markup }) => {
    expect(markup).not.toContain('<img')
    expect(markup).not.toContain('<script>')
    expect(markup.match(/<\/title>/g)).toHaveLength(1)
    for (const tag of tagsOf(markup)) {
      expect(tag).not.toMatch(/^<(img|iframe|object|base)\b/i)
      for (const name of namesOf(tag)) expect(name).not.toMatch(/^(on.*|style)$/i)
      if (tag.startsWith('<script')) expect(tag).toMatch(/ src="\/[\w./-]+"/)
    }
  })

  test.each(everyPage('Aurora'))(
    'has one style, allowed by its hash: $name in $lang',
    ({ kind, markup }) => {
      const styles = [...markup.matchAll(/<style>([\s\S]*?)<\/style>/g)]
      expect(styles).toHaveLength(1)
      const hash = createHash('sha256').update(String(styles[0]?.[1])).digest('base64')
      const csp = pageCsp({ brandHue: HUE, kind })
      expect(csp).toContain(`style-src 'sha256-${hash}'`)
      expect(csp).not.toContain('unsafe')
      expect(csp.includes('script-src')).toBe(markup.includes('<script'))
      expect(markup).not.toMatch(/<script(?![^>]* src=)/)
      expect(withoutStyle(markup)).not.toMatch(/\sstyle=|\son\w+=/)
    },
  )

  test.each(everyPage('Aurora'))('is a whole document: $name in $lang', ({ lang, markup }) => {
    expect(markup.startsWith('<!doctype html>')).toBe(true)
    const { dir } = stringsOf(lang)
    expect(markup).toContain(`<html lang="${lang}"${dir === 'rtl' ? ' dir="rtl"' : ''}>`)
    expect(markup.match(/<main/g)).toHaveLength(1)
    expect(markup.match(/<title>[^<]*Aurora<\/title>/g)).toHaveLength(1)
    expect(markup).not.toMatch(/undefined|\[object|null|NaN/)
    const opened = markup.match(/<(section|div|ul|ol|li|p|form|a|span|details)\b/g)?.length
    const closed = markup.match(/<\/(section|div|ul|ol|li|p|form|a|span|details)>/g)?.length
    expect(opened).toBe(closed)
    const ids = [...markup.matchAll(/\sid="([^"]+)"/g)].map((match) => match[1])
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('speaks both languages', () => {
    const [en, ru] = [pages('en', 'A'), pages('ru', 'A')]
    for (const name of Object.keys(en)) {
      expect(en[name]?.markup).toContain('hreflang="ru"')
      expect(ru[name]?.markup).toMatch(/[а-яё]{4}/i)
      expect(withoutStyle(en[name]?.markup ?? '').replace('Русский', '')).not.toMatch(/[а-яё]/i)
    }
  })

  test('keeps out of search engines, landing and legal pages apart', () => {
    for (const { name, markup } of everyPage('A')) {
      const found = ['landing', 'landingWithoutBot', 'offer', 'privacy'].includes(name)
      expect(markup.includes('noindex'), name).toBe(!found)
    }
  })
})

describe('the subscription page', () => {
  const { markup } = pages('en', 'Aurora').sub as { markup: string }

  test('offers happ://add/<sub_url> before any other app', () => {
    const links = [...markup.matchAll(/href="([a-z0-9]+):\/\/([^"]*)"/g)]
    const schemes = links.filter((match) => match[1] !== 'https')
    expect(schemes[0]?.[0]).toBe(`href="happ://add/${SUB_URL}"`)
    expect(markup).toContain('href="https://t.me/Aurora"')
    expect(markup).toContain(`>${SUB_URL}</code>`)
  })

  test('shows each subscription with its date and days', () => {
    const subscriptions = [
      { nodeLabel: 'Frankfurt', planLabel: '90 days', expiresOn: '13.12.2026', daysToGo: 23 },
      { nodeLabel: 'Oslo', planLabel: '30 days', expiresOn: '21.11.2026', daysToGo: 1 },
    ].map((one) => ({ ...one, planDays: 90 }))
    const links = { botUrl: null, renewUrl: null, devices: null }
    const input = {
      ...VISIT,
      ...links,
      brandName: 'A',
      brandHue: HUE,
      subUrl: SUB_URL,
      subscriptions,
    }
    const en = subPage({ ...input, lang: 'en' })
    const plan = '<bdi>90 days</bdi> · <span>until 13.12.2026<'
    for (const text of ['Frankfurt', plan, '23 days left', 'last day']) {
      expect(en).toContain(text)
    }
    const russian = subPage({ ...input, lang: 'ru' })
    expect(russian).toContain('ещё 23 дня')
    expect(russian).toContain('последний день')
  })

  test('is at most 12 KB gzipped', () => {
    const nodes = Array.from({ length: 10 }, (_, i) => ({
      nodeLabel: `Node ${i}`,
      planLabel: `Plan ${i}`,
      expiresOn: '13.12.2026',
      daysToGo: i,
      planDays: 90,
    }))
    for (const lang of LANGS) {
      const links = { botUrl: 'https://t.me/bot', renewUrl: SUB_URL, helpUrl: SUB_URL }
      const input = {
        ...VISIT,
        ...links,
        lang,
        brandName: 'Aurora',
        brandHue: HUE,
        subUrl: SUB_URL,
      }
      const page = subPage({ ...input, devices: { count: 1, limit: 3 }, subscriptions: nodes })
      expect(gzipSync(page).length).toBeLessThanOrEqual(12 * 1024)
    }
  })
})

describe('the scripts of the pages', () => {
  test('are what the pages ask for, where they are built', () => {
    const { cabinet, sub, open } = pages('en', 'A')
    const { cabinet: own, link } = FRAME.scriptUrls
    const asked = (page = { markup: '' }) =>
      [...page.markup.matchAll(/<script defer src="([^"]+)"><\/script>/g)].map(([, url]) => url)
    expect(asked(cabinet)).toEqual([own, link])
    expect([asked(sub), asked(open)]).toEqual([[link], [link]])
    const unbuilt = {
      ...VISIT,
      lang: 'en' as const,
      brandName: 'A',
      brandHue: HUE,
      scriptUrls: null,
    }
    const bare = cabinetPage({
      ...unbuilt,
      botUrl: null,
      changes: { servers: false, plans: false },
      timezone: 'UTC',
    })
    expect(bare).not.toMatch(/<(?:no)?script/)
    expect(bare).toContain(stringsOf('en').cabinetNoScript)
    // Where nothing is offered nothing is there to change by.
    expect(bare).not.toMatch(/change|Change/)
  })

  test('are named by their content, and there are none before all are built', () => {
    const folder = mkdtempSync(join(tmpdir(), 'subpanel-pages-'))
    try {
      writeFileSync(join(folder, 'link.js'), 'link()')
      expect(readPageScripts(folder)).toBeNull()
      writeFileSync(join(folder, 'cabinet.js'), 'cabinet()')
      writeFileSync(join(folder, 'cabinet.js.gz'), gzipSync('cabinet()'))
      expect(readPageScripts(folder)).toBeNull()
      writeFileSync(join(folder, 'paid.js'), 'paid()')
      const built = readPageScripts(folder)
      const hash = createHash('sha256').update('cabinet()').digest('hex').slice(0, 8)
      expect(built?.urls.cabinet).toBe(`/assets/cabinet.${hash}.js`)
      expect(built?.files.get(`/assets/cabinet.${hash}.js`)).toEqual({
        type: 'text/javascript; charset=utf-8',
        body: new Uint8Array(Buffer.from('cabinet()')),
        br: null,
        gzip: new Uint8Array(gzipSync('cabinet()')),
      })
      expect([...(built?.files.keys() ?? [])]).toEqual(Object.values(built?.urls ?? {}))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  const SOURCES = join(import.meta.dirname, '../../../src/web/assets')
  const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name, text: readFileSync(join(SOURCES, name), 'utf8') }))

  test('keep nothing in the browser, the account of who is away to pay apart', () => {
    const uses = sources.flatMap(({ name, text }) =>
      text
        .split('\n')
        .flatMap((line) => (/\w+Storage/.test(line) ? [`${name}: ${line.trim()}`] : [])),
    )
    expect(uses).toEqual(['cabinet/account.ts: return use(sessionStorage)'])
  })

  test('never turn a string into markup or code', () => {
    expect(sources.length).toBeGreaterThan(2)
    for (const { name, text } of sources) {
      expect(text, name).not.toMatch(
        /innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(/,
      )
      expect(text, name).not.toMatch(/\.style\b/)
    }
  })
})
