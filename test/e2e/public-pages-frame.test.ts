/** The frame of the public pages under a long name, and pages in a language that is read from right to left. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FILE_APPS } from '#src/domain/lists/apps.ts'
import { landingPage } from '#src/web/landing-page.ts'
import { subPage } from '#src/web/sub-page.ts'
import { axeFindings, launchChromium, screenshot } from '#test/support/browser/panel-browser.ts'
import { addPersian } from '#test/support/browser/persian.ts'

const HUE = 270
const WIDTHS = [390, 768, 1440] as const

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

const FRAME = {
  lang: 'en',
  askedLang: null,
  brandName: 'Aurora',
  brandHue: HUE,
  helpUrl: 'https://t.me/help',
  siteUrl: 'https://site.test',
  year: 2026,
  query: '',
  guests: false,
  scriptUrls: null,
} as const

const SHOP = {
  plans: [
    { code: '1m', label: '30 days', days: 30, price: 199, sold: true },
    { code: '3m', label: '90 days (Russia)', days: 90, price: 549, sold: true },
  ],
  currency: 'RUB',
  nodeLabels: ['🇩🇪 Frankfurt (fast!)', 'Oslo'],
  botLinkBase: 'https://t.me',
  botUsername: 'aurora_bot',
  deviceLimit: 5,
}

const SUBSCRIBER = {
  visitor: 'ios',
  ipad: false,
  limited: false,
  paused: [] as never[],
  accountUrl: 'https://site.test/cabinet.html#token',
  subUrl: 'https://sub.test/sub/token',
  botUrl: 'https://t.me/aurora_bot',
  selling: true,
  renewUrl: 'https://site.test/cabinet.html#token',
  devices: { count: 5, limit: 5 },
  apps: FILE_APPS,
  system: 'ios',
  inTelegram: false,
  subscriptions: [
    {
      nodeLabel: '🇩🇪 Frankfurt (fast!)',
      planLabel: '90 days (Russia)',
      expiresOn: '13.12.2026',
      daysToGo: 23,
      planDays: 90,
    },
  ],
} as const

type Frame = Omit<typeof FRAME, 'brandName'> & { brandName: string }

const PAGES = {
  landing: (frame: Frame) => landingPage({ ...frame, ...SHOP }),
  subscription: (frame: Frame) =>
    subPage({ ...frame, ...SUBSCRIBER, subscriptions: [...SUBSCRIBER.subscriptions] }),
}

/** The page of such a width with this document in it, after its picture was kept. */
async function show(markup: string, width: number, name: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 800 }, reducedMotion: 'reduce' })
  await page.setContent(markup)
  await screenshot(page, `public/${name}-${width}`)
  return page
}

const sideways = () => document.documentElement.scrollWidth - document.documentElement.clientWidth

const NAMES = {
  words: 'Aurora Borealis Northern Lights Private Network Services of EU',
  word: 'Kraftfahrzeughaftpflichtversicherungsgesellschaftsdirektorinnen'.slice(0, 62),
}

describe.each(WIDTHS)('at %i px', (width) => {
  test.each(
    Object.entries(PAGES).flatMap(([name, make]) =>
      Object.entries(NAMES).map(([kind, brandName]) => ({ name, kind, make, brandName })),
    ),
  )('a name of 62 characters leaves the head whole: $name, $kind', async (one) => {
    expect(one.brandName).toHaveLength(62)
    const markup = one.make({ ...FRAME, brandName: one.brandName })
    const page = await show(markup, width, `frame-${one.name}-${one.kind}`)
    expect(await page.evaluate(sideways)).toBe(0)
    expect((await page.locator('.top').boundingBox())?.height).toBeLessThanOrEqual(70)
    const name = await page.locator('.brand bdi').boundingBox()
    expect(name?.width).toBeGreaterThan(60)
    expect(name?.height).toBeLessThanOrEqual(46)
    for (const button of await page.locator('.top .ghost').all()) {
      expect((await button.boundingBox())?.height).toBe(44)
    }
    await page.close()
  })

  test.each(Object.entries(PAGES))('the %s page reads from right to left', async (name, make) => {
    const lang = addPersian()
    const page = await show(make({ ...FRAME, lang }), width, `persian-${name}`)
    expect(await page.evaluate(sideways)).toBe(0)
    expect(await axeFindings(page)).toEqual([])
    const [brand, menu] = [page.locator('.brand'), page.locator('.lang')]
    const left = async (part: typeof brand) => (await part.boundingBox())?.x ?? 0
    expect(await left(brand)).toBeGreaterThan(await left(menu))
    // What people wrote keeps its own order: the bracket at its end stays at its end.
    const label = page.locator('bdi', { hasText: 'Frankfurt' }).first()
    expect(await label.evaluate((part) => getComputedStyle(part).direction)).toBe('ltr')
    expect(await page.innerText('body')).toMatch(
      name === 'landing' ? /۸٪/ : /۲۳ روز مانده[\s\S]*۵ از ۵/,
    )
    await page.close()
  })
})
