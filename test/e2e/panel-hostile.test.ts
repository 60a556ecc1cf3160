/** What customers, nodes and strangers may write, on every screen of the panel: shown as text, never run. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CORPUS } from '#test/support/hostile-texts.ts'
import { openPanel, type Page, type PanelBrowser } from '#test/support/panel-browser.ts'
import { tgIdOf } from '#test/support/panel-seed.ts'

const SCREENS = [
  '/',
  '/traffic',
  '/log',
  '/users',
  `/users?user=${tgIdOf(0)}`,
  '/subscriptions',
  '/payments',
  '/gifts',
  '/plans',
  '/nodes',
  '/settings/brand',
  '/admins',
  '/security',
]

/** Elements that only markup of the corpus can have made, and whether anything of it ran. */
const intruders = (page: Page) =>
  page.evaluate(() => {
    const found = [...document.querySelectorAll('body *')].filter(
      (element) =>
        ['IMG', 'IFRAME', 'TEMPLATE'].includes(element.tagName) ||
        (element.tagName === 'A' &&
          /^\s*(?:javascript|data):/i.test(element.getAttribute('href') ?? '')) ||
        [...element.attributes].some(({ name }) => name.startsWith('on')),
    )
    return [
      ...found.map(({ outerHTML }) => outerHTML.slice(0, 80)),
      ...('ran' in globalThis ? ['ran'] : []),
    ]
  })

describe.each(Object.entries(CORPUS))('%s', (_kind, text) => {
  let panel: PanelBrowser
  beforeAll(async () => {
    panel = await openPanel({ seed: { users: 12, text: () => text } })
  })
  afterAll(() => panel.close())

  test('is shown on every screen as it was written', async () => {
    const page = await panel.open()
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    let shown = 0
    for (const screen of SCREENS) {
      await page.goto(`${panel.url}#${screen}`)
      await page.locator('main h1').waitFor()
      await page.waitForLoadState('networkidle')
      expect([screen, await intruders(page)]).toEqual([screen, []])
      const words = await page.locator('body').innerText()
      if (words.includes(text.slice(0, 12))) shown++
    }
    expect(dialogs).toEqual([])
    // Users, their card, subscriptions, payments, nodes at least: else nothing was tried.
    expect(shown).toBeGreaterThanOrEqual(4)
    expect(panel.faults).toEqual([])
    await page.context().close()
  })
})
