/** What strangers, customers and admins may write, on every public page: shown as text, never run. The policy is off here, so that escaping has to do it alone. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CORPUS } from '#test/support/hostile-texts.ts'
import { launchChromium } from '#test/support/panel-browser.ts'
import { openSite, openWindow, PLAIN_VIEW, type Site, tokenOf } from '#test/support/public-site.ts'

let browser: Browser
let site: Site
beforeAll(async () => {
  browser = await launchChromium()
  site = await openSite('node')
})
afterAll(async () => {
  await browser.close()
  await site.close()
})

const listUrls = () => [
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

test.each(Object.entries(CORPUS))(
  'text with %s runs on no page, and is read on those that show it',
  async (_name, text) => {
    const all = { username: text, node: text, plan: text, brand: text, device: text }
    site.rewrite({ ...all, contact: `https://${text}` })
    const context = await openWindow(browser, PLAIN_VIEW, [], { bypassCSP: true })
    const page = await context.newPage()
    const ran: string[] = []
    page.on('dialog', (dialog) => {
      ran.push(page.url())
      void dialog.dismiss()
    })
    for (const url of listUrls()) {
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
    await page.goto(`${site.site}/cabinet.html#${tokenOf('one')}`)
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
