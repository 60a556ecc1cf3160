/** Every screen of the panel, seen by pairs of circumstances: width, theme, language, runtime. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Circumstances, OPPOSITES } from '#test/support/pairs.ts'
import {
  close,
  inspect,
  missingPairs,
  openPanel,
  type PanelBrowser,
  screenshot,
} from '#test/support/panel-browser.ts'
import {
  ADD_NODE,
  answerMetrics,
  hostKeys,
  nodeCard,
  nodeSetup,
  PLAIN_SCREENS,
  paymentCard,
  show,
  userCard,
} from '#test/support/panel-screens.ts'

const ALL = [
  ...PLAIN_SCREENS,
  userCard(0),
  paymentCard(0),
  nodeCard('live0'),
  hostKeys('key0'),
  ...ADD_NODE,
  nodeSetup('failed0'),
  nodeSetup('away0'),
]

/** Two windows that have nothing in common, and the screens that both show. */
const ROUNDS = OPPOSITES.map((views, round) => ({
  views,
  screens: ALL.filter((_, n) => n % OPPOSITES.length === round),
  names: views.map(nameOf).join(' and in '),
}))

function nameOf({ width, theme, lang, runtime }: Circumstances): string {
  return `${width}-${theme}-${lang}-${runtime}`
}

let panel: PanelBrowser
beforeAll(async () => {
  const env = { SYNC_INTERVAL_MS: '3600000' }
  panel = await openPanel({ seed: { users: 12, troubles: 1 }, env })
})
afterAll(() => panel.close())

test('all pairs of circumstances meet on the screens of each kind', () => {
  for (const kind of ['screen', 'settings', 'card', 'wizard'] as const) {
    const views = ROUNDS.filter(({ screens }) => screens.some((one) => one.kind === kind))
    expect([kind, missingPairs(views.flatMap((round) => round.views))]).toEqual([kind, []])
  }
})

test.each(ROUNDS)(
  'a screen is accessible, keeps to its policy and asks nobody else in $names',
  async ({ views, screens }) => {
    const look = async (view: Circumstances) => {
      const page = await panel.open(view)
      await answerMetrics(page)
      for (const screen of screens) {
        await show(page, screen)
        const found = await inspect(page, `panel/${screen.name}-${nameOf(view)}`)
        expect([screen.name, found]).toEqual([screen.name, []])
      }
      await close(page)
    }
    await Promise.all(views.map(look))
    expect(panel.faults).toEqual([])
  },
)

test.each([
  { lang: 'en', theme: 'light', words: 'The panel needs JavaScript.' },
  { lang: 'ru', theme: 'dark', words: 'Панели нужен JavaScript.' },
] as const)('without JavaScript the page says so in $lang', async ({ words, ...view }) => {
  const page = await panel.open({ ...view, javaScript: false })
  expect((await page.innerText('body')).trim()).toBe(words)
  await screenshot(page, `panel/no-script-${view.lang}`)
  await close(page)
  expect(panel.faults).toEqual([])
})
