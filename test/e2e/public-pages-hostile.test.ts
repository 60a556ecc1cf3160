/** What strangers, customers and admins may write, on every public page: shown as text, never run. The policy is off here, so that escaping has to do it alone. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchChromium } from '#test/support/browser/panel-browser.ts'
import {
  openSite,
  openWindow,
  PLAIN_VIEW,
  type Site,
  tokenOf,
} from '#test/support/browser/public-site.ts'
import { RUNTIMES } from '#test/support/drivers/process.ts'
import { CORPUS } from '#test/support/hostile-texts.ts'

let browser: Browser
/** One of each runtime. */
let sites: Site[]
beforeAll(async () => {
  browser = await launchChromium()
  sites = await Promise.all(RUNTIMES.map(openSite))
})
afterAll(async () => {
  await browser.close()
  for (const site of sites) await site.close()
})

const siteOf = (n: number) => sites[n % sites.length] as Site

const urlsOf = (site: Site) => [
  `${site.site}/`,
  `${site.site}/offer`,
  `${site.site}/privacy`,
  `${site.site}/pay/done`,
  `${site.site}/cabinet.html#${tokenOf('many')}`,
  `${site.site}/cabinet.html#${tokenOf('one')}`,
  site.link('one'),
  site.link('many'),
  site.link('ended'),
  site.link('paused'),
  `${site.link('one')}/open/happ`,
  `${site.sub}/sub/nobody`,
]

/** Every page: of one runtime with one text, of the other with the next. */
const listUrls = (text: number) =>
  urlsOf(siteOf(0)).map((_, n) => urlsOf(siteOf(text + n))[n] as string)

/** Elements that only markup of the corpus can have made, and addresses that run. */
const intruders = (page: Page) =>
  page.evaluate(() => {
    const found = [...document.querySelectorAll('*')].filter(
      (element) =>
        (['IMG', 'IFRAME', 'B'].includes(element.tagName) && !element.closest('.choice')) ||
        (element.tagName === 'SCRIPT' && !element.getAttribute('src')?.startsWith('/assets/')) ||
        [...element.attributes].some(({ name }) => name.startsWith('on') || name === 'style') ||
        (/^\s*(?:javascript|data):/i.test(element.getAttribute('href') ?? '') &&
          element.tagName === 'A'),
    )
    return [
      ...found.map(({ outerHTML }) => outerHTML.slice(0, 80)),
      ...('ran' in globalThis ? ['ran'] : []),
    ]
  })

/** Wakes what waits for the mouse, the focus or an animation. */
const wake = (page: Page) =>
  page.evaluate(() => {
    for (const element of document.querySelectorAll('body *')) {
      for (const name of [
        'mouseover',
        'focus',
        'click',
        'toggle',
        'animationstart',
        'error',
        'load',
      ]) {
        if (name !== 'click' || !element.closest('a, button, summary, label, input')) {
          element.dispatchEvent(new Event(name))
        }
      }
    }
  })

test.each(Object.entries(CORPUS).map(([name, text], at) => ({ name, text, at })))(
  'text with $name runs on no page, and is read on those that show it',
  async ({ text, at }) => {
    const all = { username: text, node: text, plan: text, brand: text, device: text }
    for (const site of sites) site.rewrite({ ...all, contact: `https://${text}` })
    const context = await openWindow(browser, PLAIN_VIEW, [], { bypassCSP: true })
    const page = await context.newPage()
    const ran: string[] = []
    page.on('dialog', (dialog) => {
      ran.push(page.url())
      void dialog.dismiss()
    })
    for (const url of listUrls(at)) {
      // A change of the fragment alone would load nothing.
      if (url.includes('#')) await page.goto('about:blank')
      await page.goto(url)
      if (url.includes('#')) await page.waitForSelector('#account:not([hidden])')
      await wake(page)
      expect(await intruders(page), url).toEqual([])
      expect(await page.locator('.brand').innerText(), url).toContain(text.slice(-12).trim())
    }
    const devices = page.locator('#device-list')
    await page.goto('about:blank')
    await page.goto(`${siteOf(at).site}/cabinet.html#${tokenOf('one')}`)
    await page.waitForSelector('#account:not([hidden])')
    expect(await devices.innerText()).toContain(text.slice(-12).trim())
    expect(ran).toEqual([])
    await context.close()
  },
)

test('such text would run, and would be found, where it became markup', async () => {
  const context = await openWindow(browser, PLAIN_VIEW, [])
  const page = await context.newPage()
  let ran = 0
  page.on('dialog', (dialog) => {
    ran++
    void dialog.dismiss()
  })
  for (const text of [CORPUS.tags, `<p class="${CORPUS.attributes}">`]) {
    await page.setContent(text)
    await wake(page)
    expect(await intruders(page)).not.toEqual([])
    expect(ran).toBeGreaterThan(0)
    ran = 0
  }
  await context.close()
})
