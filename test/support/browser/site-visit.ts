import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { launchChromium } from './panel-browser.ts'
import { openSite, openWindow, PLAIN_VIEW, type Site, type View } from './public-site.ts'

export interface SiteVisit extends Omit<Site, 'rewrite' | 'close'> {
  /** An empty page in a window of its own. */
  open(view?: Partial<View>, options?: Parameters<typeof openWindow>[3]): Promise<Page>
  /** Faults with this text are what the test is about. */
  forgive(text: string): void
}

/** A site on Node for the tests of a file: windows end with each test, and what their pages must not do fails it. */
export function visitSite(): SiteVisit {
  let browser: Browser
  let opened: Site
  let faults: string[] = []
  const windows: BrowserContext[] = []
  beforeAll(async () => {
    browser = await launchChromium()
    opened = await openSite('node')
  })
  afterAll(async () => {
    await browser.close()
    await opened.close()
  })
  afterEach(async () => {
    for (const context of windows.splice(0)) await context.close()
    const found = faults
    faults = []
    expect(found).toEqual([])
  })
  return {
    get area() {
      return opened.area
    },
    get server() {
      return opened.server
    },
    get gateway() {
      return opened.gateway
    },
    get sub() {
      return opened.sub
    },
    get site() {
      return opened.site
    },
    link: (buyer) => opened.link(buyer),
    async open(view, options) {
      const context = await openWindow(browser, { ...PLAIN_VIEW, ...view }, faults, options)
      windows.push(context)
      return context.newPage()
    },
    forgive(text) {
      faults = faults.filter((fault) => !fault.includes(text))
    },
  }
}
