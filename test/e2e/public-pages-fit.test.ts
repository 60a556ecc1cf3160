/** The subscription page on small screens, in large letters and in a screen reader's words. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeFindings, screenshot } from '#test/support/browser/panel-browser.ts'
import { PHONE } from '#test/support/browser/public-site.ts'
import { visitSite } from '#test/support/browser/site-visit.ts'

const site = visitSite()

async function open(
  options: Parameters<typeof site.open>[1],
  lang: 'en' | 'ru' = 'en',
  query = '',
): Promise<Page> {
  const page = await site.open({ lang }, options)
  await page.goto(site.link('one') + query)
  return page
}

const addButton = (page: Page) => page.locator('a.btn.wide[data-add]:visible')
const ANDROID =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36'
const TELEGRAM = `${ANDROID} Telegram-Android/11.9.0 (Google Pixel 9; Android 15; SDK 35; HIGH)`
const LANGS = ['en', 'ru'] as const

test.each(
  LANGS.flatMap((lang) =>
    [
      // An iPhone with the bars of its browser, a small Android phone.
      { width: 390, height: 664, userAgent: PHONE },
      { width: 390, height: 664, userAgent: ANDROID },
      { width: 360, height: 740, userAgent: PHONE },
      { width: 360, height: 740, userAgent: ANDROID },
      { width: 390, height: 844, userAgent: TELEGRAM },
    ].map((screen) => ({ lang, ...screen })),
  ),
)(
  'has its add button inside the first phone screen: $lang, $width x $height, $userAgent',
  async ({ lang, width, height, userAgent }) => {
    const page = await open({ viewport: { width, height }, userAgent }, lang)
    const box = await addButton(page).boundingBox()
    expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThanOrEqual(height)
    expect(await addButton(page).getAttribute('href')).toBe(`happ://add/${site.link('one')}`)
    expect(await page.locator('#in-telegram').isVisible()).toBe(userAgent === TELEGRAM)
  },
)

test.each(
  LANGS.flatMap((lang) =>
    [
      [320, 16],
      [390, 24],
      [390, 32],
      [320, 32],
    ].map(([width, size]) => ({ lang, width: width as number, size: size as number })),
  ),
)('fits $width px in letters of $size px: $lang', async ({ lang, width, size }) => {
  const page = await open({ viewport: { width, height: 844 } }, lang)
  const debug = await page.context().newCDPSession(page)
  await debug.send('Page.setFontSizes', { fontSizes: { standard: size, fixed: size } })
  await page.reload()
  expect(await page.evaluate(() => getComputedStyle(document.body).fontSize)).toBe(`${size}px`)
  for (const part of await page.locator('details.for:visible summary').all()) await part.click()
  const { sideways, cut } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    const shown = [...document.querySelectorAll('main :not(.sr, .link)')]
    // The parts of an inline element have no width of their own.
    const wide = shown.filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1)
    const strip = document.querySelector('.os')?.getBoundingClientRect().right ?? 0
    const out = [...document.querySelectorAll('.os label')].filter(
      (label) => label.getBoundingClientRect().right > strip,
    )
    const cut = [...wide, ...out].map((one) => one.outerHTML.slice(0, 60))
    return { sideways: scrollWidth - clientWidth, cut }
  })
  await screenshot(page, `public/large-${lang}-${width}-${size}`)
  expect(sideways).toBe(0)
  expect(cut).toEqual([])
  expect(await axeFindings(page)).toEqual([])
})

test('names the group of systems', async () => {
  const page = await open({})
  // What Chromium tells screen readers: Playwright's own tree does not know aria-owns of what came before.
  const debug = await page.context().newCDPSession(page)
  const { nodes } = await debug.send('Accessibility.getFullAXTree')
  const group = nodes.find(({ role }) => role?.value === 'radiogroup')
  expect(group?.name?.value).toBe('Your device')
  const within = nodes.filter(({ nodeId }) => group?.childIds?.includes(nodeId))
  const radios = within.filter(({ role }) => role?.value === 'radio')
  const names = radios.map(({ name }) => name?.value)
  expect(names).toEqual(['iPhone', 'Android', 'Windows', 'Mac', 'Linux', 'TV'])
})

test('on a phone the television is added by its code: the button of the phone is not the main one', async () => {
  const page = await open({})
  await page.locator('label[for=os-tv]').click()
  expect(await addButton(page).getAttribute('class')).toBe('btn wide')
  expect(await page.getByText('Scan the code on its screen with Happ on your phone').count()).toBe(
    1,
  )
  const chosen = await open({}, 'en', '?os=tv')
  expect(await addButton(chosen).getAttribute('class')).toBe('btn wide')
  const bravia = 'Mozilla/5.0 (Linux; Android 12; BRAVIA 4K VH2) AppleWebKit/537.36 Chrome/140.0'
  const onTv = await open({ userAgent: bravia })
  expect(await addButton(onTv).getAttribute('class')).toBe('btn pri wide')
})
