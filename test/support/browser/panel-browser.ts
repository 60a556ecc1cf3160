/** The panel as people meet it: a real server with seeded data, and Debian's Chromium. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'
import { expect } from 'vitest'
import {
  type Area,
  createArea,
  freePort,
  PASSWORD,
  RUNTIMES,
  type Runtime,
  type Server,
} from '#test/support/drivers/process.ts'
import { APIS_NOWHERE } from '#test/support/fakes/nowhere.ts'
import { decode, drawn } from '#test/support/qr-decoder.ts'
import { type Seed, seedShop } from './panel-seed.ts'

export type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Where screenshots go: outside the repository. */
export const SCREENSHOTS = process.env.SUBPANEL_SCREENSHOTS ?? join(tmpdir(), 'subpanel-screens')

/** Chromium: its variable, else Debian's. Tests without it must fail. */
export function chromiumPath(): string {
  const path = process.env.CHROMIUM ?? '/usr/bin/chromium'
  if (!existsSync(path)) throw new Error(`chromium is needed for this test: set CHROMIUM`)
  return path
}

/** Starts the browser. Names under `.test` lead to this machine, as insecure addresses. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath(),
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--host-resolver-rules=MAP *.test 127.0.0.1',
    ],
  })
}

const FACTORS = {
  runtime: RUNTIMES,
  width: [390, 1440],
  theme: ['light', 'dark'],
  lang: ['en', 'ru'],
} as const

/** The circumstances of a window. */
export type View = { [F in keyof typeof FACTORS]: (typeof FACTORS)[F][number] }

/** Those of each window that this test file opened. */
const views: View[] = []

/** Pairs of circumstances that no window of this test file had, or none of `seen`: the last test of a file finds none. */
export function missingPairs(seen: readonly View[] = views): string[] {
  const all = Object.entries(FACTORS).flatMap(([factor, values]) =>
    values.map((value) => ({ factor: factor as keyof View, value })),
  )
  return all.flatMap((one, at) =>
    all
      .slice(at + 1)
      .filter((other) => other.factor !== one.factor)
      .filter(
        (other) =>
          !seen.some(
            (view) => view[one.factor] === one.value && view[other.factor] === other.value,
          ),
      )
      .map((other) => `${one.value} + ${other.value}`),
  )
}

/** What is not told is as at a desk: 1440 px, light, English, and the runtime of the panel. */
export interface PageOptions extends Partial<View> {
  /** Whether the page has a session from its start; true unless told otherwise. */
  login?: boolean
  /** Part of the address after the path: `#/users`. */
  hash?: string
  /** A host of `.test`, which browsers take for insecure. */
  host?: string
  javaScript?: boolean
  /** Switches the page's policy off: escaping has to do it alone. */
  bypassCSP?: boolean
}

export interface PanelBrowser {
  area: Area
  server: Server
  browser: Browser
  /** `http://panel.localhost:PORT/ADMIN_PATH`. In a window, which may be another process's, `visit` goes to a screen. */
  url: string
  /** What no page may do: policy violations, errors in the console, requests to others. Tests end by finding none. */
  faults: string[]
  /** A window of its own, at the panel. */
  open(options?: PageOptions): Promise<Page>
  /** A session's cookie, as a header. */
  cookie(): Promise<string>
  /** An admin request behind the page's back. */
  admin(path: string, body?: unknown, method?: string): Promise<unknown>
  close(): Promise<void>
}

/** Reports what the policy refused, which is not always an error of the console. */
const reportViolations = () => {
  document.addEventListener('securitypolicyviolation', (event) => {
    console.error(`CSP: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`)
  })
}

/** What tests bring about on purpose, refusals and insecure addresses, is no fault of the page. */
const EXPECTED =
  /^The Cross-Origin-Opener-Policy header has been ignored, because|^Failed to load resource: (?:the server responded with a status of (?:400|401|403|404|409|429|502|503)|net::ERR_)/

/** What a page is made of: of these none may be missing, whatever a test refuses. */
const PARTS = ['script', 'stylesheet', 'font', 'image']

/** Collects what a window must not do. */
export function watchFaults(context: BrowserContext, origin: () => string, faults: string[]): void {
  context.on('response', (response) => {
    const failed = response.status() >= 400
    if (failed && PARTS.includes(response.request().resourceType())) {
      faults.push(`${response.status()} ${response.url()}`)
    }
  })
  context.on('console', (message) => {
    const text = message.text()
    if (message.type() === 'error' && !EXPECTED.test(text)) faults.push(text)
  })
  context.on('weberror', (error) => faults.push(String(error.error())))
  context.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(origin()) && !/^(?:data|blob):/.test(url)) faults.push(`asks ${url}`)
  })
}

/**
 * Keeps each request of a window's scripts waiting, by chance for up to `E2E_DELAY_MS`: tests that read a page before it has what they
 * look for fail then, which without it they do once in a hundred runs.
 */
export async function delayAnswers(context: BrowserContext): Promise<void> {
  const most = Number(process.env.E2E_DELAY_MS ?? 0)
  if (most === 0) return
  await context.route(/\/api\//, async (route) => {
    await sleep(most * Math.random())
    // A window that was closed meanwhile waits for nothing.
    await route.continue().catch(() => {})
  })
}

export interface PanelOptions {
  runtime?: Runtime
  seed?: Seed | false
  env?: Record<string, string>
  adminPath?: string
}

const HOST = 'panel.localhost'

const domainsAt = (port: number) => ({
  PORT: String(port),
  PANEL_DOMAIN: `${HOST}:${port}`,
  SUB_DOMAIN: `sub.localhost:${port}`,
  SITE_DOMAIN: `site.localhost:${port}`,
})

/** Starts a server with a seeded shop, and a browser. Windows of the other runtime get a second process on the same database. */
export async function openPanel(options: PanelOptions = {}): Promise<PanelBrowser> {
  const { runtime: main = 'node', adminPath = 'hidden' } = options
  const port = await freePort()
  const area = createArea({
    PANEL_PASSWORD: PASSWORD,
    LOCAL_NODE: 'off',
    ADMIN_PATH: adminPath,
    PUBLIC_SCHEME: 'http',
    ...domainsAt(port),
    ...APIS_NOWHERE,
    ...options.env,
  })
  const server = await area.startServer({ runtime: main, env: { PORT: String(port) } })
  if (options.seed !== false) seedShop(area.database, options.seed)
  const browser = await launchChromium()
  const faults: string[] = []
  let session: Promise<string> | null = null
  let second: Promise<number> | null = null

  const startSecond = async (runtime: Runtime): Promise<number> => {
    const own = await freePort()
    await area.startServer({ runtime, env: domainsAt(own) })
    return own
  }
  const portOf = (runtime: Runtime): Promise<number> | number => {
    if (runtime === main) return port
    second ??= startSecond(runtime)
    return second
  }
  const logIn = async (): Promise<string> => {
    const answer = await server.call('/admin/api/login', {
      body: { username: 'admin', password: PASSWORD },
      headers: { 'x-real-ip': '192.0.2.250' },
    })
    const found = /panel_admin=[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0]
    if (!found) throw new Error(`login: ${answer.status} ${answer.text}`)
    return found
  }
  const cookie = () => {
    session ??= logIn()
    return session
  }
  return {
    area,
    server,
    browser,
    url: `http://${HOST}:${port}/${adminPath}`,
    faults,
    cookie,
    async open(page = {}) {
      const { runtime = main, width = 1440, theme = 'light', lang = 'en', login = true } = page
      views.push({ runtime, width, theme, lang })
      const origin = `http://${page.host ?? HOST}:${await portOf(runtime)}`
      const context = await browser.newContext({
        viewport: { width, height: width === 390 ? 844 : 900 },
        ...(width === 390 && { hasTouch: true, isMobile: true, deviceScaleFactor: 2 }),
        colorScheme: theme,
        locale: lang === 'ru' ? 'ru-RU' : 'en-US',
        reducedMotion: 'reduce',
        javaScriptEnabled: page.javaScript ?? true,
        bypassCSP: page.bypassCSP ?? false,
        permissions: page.host ? [] : ['clipboard-read', 'clipboard-write'],
      })
      context.setDefaultTimeout(10_000)
      await context.addInitScript(reportViolations)
      watchFaults(context, () => origin, faults)
      if (login) {
        const [name, value] = (await cookie()).split('=') as [string, string]
        await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Strict' }])
      }
      await delayAnswers(context)
      const opened = await context.newPage()
      await opened.goto(`${origin}/${adminPath}${page.hash ?? ''}`)
      return opened
    },
    async admin(path, body, method = body === undefined ? 'GET' : 'POST') {
      const answer = await server.call(`/admin/api${path}`, {
        method,
        body,
        headers: { cookie: await cookie() },
      })
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`)
      return answer.json
    },
    async close() {
      await browser.close()
      await area.close()
    },
  }
}

/** Goes to a screen of the window's own panel: `/users?q=anna`. */
export const visit = (page: Page, route: string) =>
  page.goto(new URL(`#${route}`, page.url()).toString())

/** Waits for what a busy machine may take long to show. */
export const soon = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 15_000 })

/** A button by its whole name; a RegExp may say a part. */
export const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: true })

/** Waits for a message at the edge of the window. */
export const toast = (page: Page, text: string | RegExp) =>
  page.locator('.toasts').getByText(text).first().waitFor()

/** Waits for a screen by its title. */
export const heading = (page: Page, name: string) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

/** Rows of all tables. */
export const rows = (page: Page) => page.locator('tbody tr')

/** The dialog on top. */
export const dialog = (page: Page) => page.getByRole('dialog').last()

/** A field of the dialog on top. */
export const field = (page: Page, label: string) => dialog(page).getByLabel(label, { exact: true })

/** Chooses in a list of the dialog on top. */
export const choose = (page: Page, label: string, option: string) =>
  dialog(page).getByLabel(label).selectOption({ label: option })

/** Presses a button of the dialog on top. */
export const answer = (page: Page, name: string | RegExp) =>
  dialog(page).getByRole('button', { name, exact: true }).click()

/** Chooses from the menu of a row. */
export async function act(page: Page, name: string, action: string): Promise<void> {
  await button(page, `Actions for ${name}`).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

/** What a QR code on a page says. */
export async function scanned(code: Locator): Promise<string> {
  const size = Number((await code.getAttribute('viewBox'))?.split(' ')[2])
  return decode(drawn(size, (await code.locator('path').getAttribute('d')) ?? ''))
}

/** Makes a window slow: Slow 4G as Lighthouse has it (1.6 Mbit/s, 150 ms), and a processor with a quarter of the speed. */
export async function throttle(page: Page): Promise<CDPSession> {
  const debug = await page.context().newCDPSession(page)
  await debug.send('Network.enable')
  await debug.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 150,
    downloadThroughput: (1.6 * 1024 * 1024) / 8,
    uploadThroughput: (750 * 1024) / 8,
  })
  await debug.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  return debug
}

/** Closes a window. */
export const close = (page: Page) => page.context().close()

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[]
}

/** What axe finds on a page, one line for each element; none on a good one. */
export async function axeFindings(page: Page): Promise<string[]> {
  // Through the debugger: the page's own policy lets nothing in. Once a document.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(`${AXE};0`)
  const result = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(AXE_TAGS)}, resultTypes: ['violations'] })`,
  )) as AxeResult
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  )
}

/** Keeps a picture of a page for people to look at. */
export async function screenshot(page: Page, name: string, fullPage = true): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage })
}

/** A page at rest: keeps its picture, gives what axe finds and whether it scrolls sideways. */
export async function inspect(page: Page, name: string): Promise<string[]> {
  await screenshot(page, name)
  const sideways = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
  return [
    ...(await axeFindings(page)),
    ...(sideways > 0 ? [`scrolls sideways by ${sideways}`] : []),
  ]
}
