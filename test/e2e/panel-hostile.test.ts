/** What customers, nodes and strangers may write, on every screen of the panel: shown as text, never run. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CORPUS } from '#test/support/hostile-texts.ts'
import {
  close,
  missingPairs,
  openPanel,
  type Page,
  type PageOptions,
  type PanelBrowser,
  visit,
} from '#test/support/panel-browser.ts'
import { tgIdOf } from '#test/support/panel-seed.ts'
import { RUNTIMES, type Runtime } from '#test/support/process.ts'

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

/** Two windows for each text, which share the screens. */
const VIEWS: PageOptions[][] = [
  [{}, { width: 390, theme: 'dark' }],
  [
    { theme: 'dark', lang: 'ru' },
    { width: 390, lang: 'ru' },
  ],
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

describe.each(
  Object.entries(CORPUS).map(([kind, text], at) => ({
    kind,
    text,
    runtime: RUNTIMES[at % 2] as Runtime,
    views: VIEWS[at >> 1] as PageOptions[],
  })),
)('$kind on $runtime', ({ text, runtime, views }) => {
  let panel: PanelBrowser
  beforeAll(async () => {
    panel = await openPanel({ runtime, seed: { users: 12, text: () => text } })
  })
  afterAll(() => panel.close())

  test('is shown on every screen as it was written', async () => {
    const dialogs: string[] = []
    let shown = 0
    const look = async (page: Page, screen: string) => {
      await visit(page, screen)
      await page.locator('main h1').waitFor()
      await page.waitForLoadState('networkidle')
      expect([screen, await intruders(page)]).toEqual([screen, []])
      const words = await page.locator('body').innerText()
      if (words.includes(text.slice(0, 12))) shown++
    }
    for (const [at, view] of views.entries()) {
      const page = await panel.open(view)
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message())
        void dialog.dismiss()
      })
      for (const screen of SCREENS.filter((_, n) => n % 2 === at)) await look(page, screen)
      await close(page)
    }
    expect(dialogs).toEqual([])
    // Users, their card, subscriptions, payments, nodes at least: else nothing was tried.
    expect(shown).toBeGreaterThanOrEqual(4)
    expect(panel.faults).toEqual([])
  })
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
