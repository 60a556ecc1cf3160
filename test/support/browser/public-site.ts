/** The public pages as people meet them: a real server with buyers in it, and windows of Debian's Chromium. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import {
  type Area,
  createArea,
  freePort,
  type Runtime,
  type Server,
} from '#test/support/drivers/process.ts'
import { KEYS, yookassaEnvironment } from '#test/support/drivers/shop-process.ts'
import { APIS_NOWHERE } from '#test/support/fakes/nowhere.ts'
import { type FakeYookassa, startFakeYookassa } from '#test/support/fakes/yookassa.ts'
import { axeFindings, delayAnswers, screenshot, watchFaults } from './panel-browser.ts'

export const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'

const DAY_MS = 86_400_000
const stamp = (days: number) =>
  new Date(Date.now() + days * DAY_MS - 3_600_000).toISOString().slice(0, 19)

/** Who has what: one subscription, several, one that ended, one that is paused, nothing. */
export const BUYERS = { one: 1, many: 2, ended: 3, paused: 4, none: 5 } as const
export type Buyer = keyof typeof BUYERS

export const tokenOf = (buyer: Buyer): string => `token-of-${BUYERS[buyer]}-`.padEnd(43, 'x')

/** What strangers, customers and admins may write; by default what honest ones do. */
export interface Texts {
  username: string
  node: string
  plan: string
  brand: string
  device: string
  contact: string
}

const HONEST: Texts = {
  username: 'anna',
  node: '🇩🇪 Frankfurt',
  plan: '90 days',
  brand: 'Aurora',
  device: 'Pixel 9 Pro',
  contact: '@aurora_help',
}

function rewrite(area: Area, texts: Texts): void {
  area.write("update nodes set label = ? where code = 'fra'", texts.node)
  area.write("update plans set label = ? where code = '3m'", texts.plan)
  area.write('update users set username = ?', texts.username)
  for (const name of ['device_os', 'device_model', 'user_agent']) {
    area.write(`update devices set ${name} = ?`, texts.device)
  }
  const settings = { BRAND_NAME: texts.brand, SUPPORT_CONTACT: texts.contact }
  for (const [key, value] of Object.entries(settings)) {
    area.write('insert or replace into settings (key, value) values (?, ?)', key, value)
  }
}

function seed(area: Area): void {
  const insert = (table: string, row: Record<string, string | number | null>) => {
    const marks = Object.keys(row).map(() => '?')
    area.write(
      `insert into ${table} (${Object.keys(row).join(', ')}) values (${marks.join(', ')})`,
      ...Object.values(row),
    )
  }
  const node = (code: string, label: string, at: number) =>
    insert('nodes', { code, label, address: `${code}.test`, sort_order: at, created_at: stamp(-9) })
  node('fra', '', 5)
  node('ams', '🇳🇱 Amsterdam', 6)
  node('nyc', '🇺🇸 New York', 7)
  let count = 0
  const subscription = (buyer: Buyer, row: Record<string, string | number> = {}) =>
    insert('subscriptions', {
      uuid: `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`,
      tg_id: BUYERS[buyer],
      node: 'fra',
      plan: '3m',
      expires_at: stamp(23),
      source: 'admin',
      created_at: stamp(-count),
      ...row,
    })
  for (const buyer of Object.keys(BUYERS) as Buyer[]) {
    insert('users', { tg_id: BUYERS[buyer], token: tokenOf(buyer), created_at: stamp(-99) })
  }
  subscription('one')
  subscription('many')
  subscription('many', { node: 'ams', plan: '1m', expires_at: stamp(2) })
  subscription('many', { node: 'nyc', plan: '12m', expires_at: stamp(340) })
  subscription('many', { node: 'nyc', held_at: stamp(-1) })
  subscription('ended', { expires_at: stamp(-8) })
  subscription('paused', { held_at: stamp(-2) })
  for (const hwid of ['a', 'b', 'c', 'd', 'e']) {
    const row = { tg_id: BUYERS.one, hwid: hwid.repeat(12) }
    insert('devices', { ...row, created_at: stamp(-5), last_seen_at: stamp(-1) })
  }
  insert('settings', { key: 'BRAND_HUE', value: '270' })
}

export interface Site {
  area: Area
  server: Server
  /** The fake YooKassa that it sells through. */
  gateway: FakeYookassa
  /** `http://sub.localhost:PORT`, which browsers take for secure. */
  sub: string
  site: string
  /** The shown address of a buyer's list. */
  link(buyer: Buyer): string
  /** Other words in place of those that people wrote. */
  rewrite(texts: Texts): void
  close(): Promise<void>
}

/** Starts a server that sells through a fake YooKassa. */
export async function openSite(runtime: Runtime): Promise<Site> {
  const port = await freePort()
  const fake = await startFakeYookassa(KEYS)
  const origin = (name: string) => `http://${name}.localhost:${port}`
  const area = createArea({
    ...APIS_NOWHERE,
    ...yookassaEnvironment(fake.url),
    PUBLIC_SCHEME: 'http',
    PANEL_DOMAIN: `panel.localhost:${port}`,
    SUB_DOMAIN: `sub.localhost:${port}`,
    SITE_DOMAIN: `site.localhost:${port}`,
    BOT_USERNAME: 'aurora_bot',
    HWID_LIMIT_ENABLED: 'on',
    HWID_FALLBACK_LIMIT: '5',
  })
  const server = await area.startServer({ runtime, env: { PORT: String(port) } })
  seed(area)
  rewrite(area, HONEST)
  return {
    area,
    server,
    gateway: fake,
    sub: origin('sub'),
    site: origin('site'),
    link: (buyer) => `${origin('sub')}/sub/${tokenOf(buyer)}`,
    rewrite: (texts) => rewrite(area, texts),
    async close() {
      await area.close()
      await fake.close()
    },
  }
}

export interface View {
  javaScript: boolean
  width: 390 | 1440
  theme: 'light' | 'dark'
  lang: 'en' | 'ru'
}

export const PLAIN_VIEW: View = { javaScript: true, width: 390, theme: 'light', lang: 'en' }

/** A window like that of one kind of visitor. What its pages must not do is added to `faults`. */
export async function openWindow(
  browser: Browser,
  view: View,
  faults: string[],
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<BrowserContext> {
  const { width, theme, lang, javaScript } = view
  const context = await browser.newContext({
    viewport: { width, height: width === 390 ? 844 : 900 },
    ...(width === 390 ? { hasTouch: true, userAgent: PHONE } : {}),
    colorScheme: theme,
    locale: lang,
    reducedMotion: 'reduce',
    javaScriptEnabled: javaScript,
    ...options,
  })
  context.setDefaultTimeout(15_000)
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      const { effectiveDirective, blockedURI, sample } = event as SecurityPolicyViolationEvent
      console.error(`CSP: ${effectiveDirective} ${blockedURI} ${sample}`)
    })
  })
  let origin = 'http://sub.localhost'
  context.on('request', (request) => {
    if (request.isNavigationRequest()) origin = new URL(request.url()).origin
  })
  watchFaults(context, () => origin, faults)
  await delayAnswers(context)
  return context
}

/** Legal texts are long, and their ends look like their beginnings. */
const TALLEST_PICTURE = 3000

/**
 * What is wrong with a page at rest: what axe finds, and whether it scrolls sideways. Its picture is kept. Nothing asynchronous runs
 * in a window without scripts, axe neither: there `twin`, a tab that has them, shows the same document as such a window does.
 */
export async function findingsOf(page: Page, name: string, twin?: Page): Promise<string[]> {
  const [sideways, height] = await page.evaluate(() => {
    const { scrollWidth, clientWidth, scrollHeight } = document.documentElement
    return [scrollWidth - clientWidth, scrollHeight] as const
  })
  await screenshot(page, name, height <= TALLEST_PICTURE)
  const wide = sideways > 0 ? [`scrolls sideways by ${sideways}`] : []
  if (!twin) return [...wide, ...(await axeFindings(page))]
  const body = (await page.content()).replace(/<script[^>]*><\/script>|<\/?noscript>/g, '')
  await twin.route(page.url(), (route) => route.fulfill({ contentType: 'text/html', body }))
  await twin.goto(page.url())
  return [...wide, ...(await axeFindings(twin))]
}
