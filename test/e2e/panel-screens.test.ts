/** Every screen of the panel, seen by pairs of circumstances: width, theme, language, runtime. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Circumstances, OPPOSITES } from '#test/support/browser/pairs.ts'
import {
  close,
  inspect,
  missingPairs,
  openPanel,
  type PanelBrowser,
  screenshot,
} from '#test/support/browser/panel-browser.ts'
import {
  ADD_NODE,
  answerMetrics,
  hostKeys,
  NEW_CUSTOMER,
  NEW_GROUP,
  nodeCard,
  nodeSetup,
  PLAIN_SCREENS,
  paymentCard,
  show,
  userCard,
} from '#test/support/browser/panel-screens.ts'

const ALL = [
  ...PLAIN_SCREENS,
  userCard(0),
  NEW_CUSTOMER,
  NEW_GROUP,
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

test('the list says of a faulty server why, and that one of others is not watched', async () => {
  panel.area.write(
    "update nodes set last_error = 'no SSH connection to 192.0.2.7:22: timed out' where code = 'tr1'",
  )
  const page = await panel.open({ runtime: 'bun', hash: '#/nodes' })
  const line = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  await line('Istanbul').getByText('no SSH connection to 192.0.2.7:22: timed out').waitFor()
  await line('Istanbul').getByText('Does not work').waitFor()
  await line('Helsinki').getByText('Not watched').waitFor()
  expect(await line('Helsinki').getByText('no SSH connection').count()).toBe(0)
  await close(page)
  const russian = await panel.open({ lang: 'ru', width: 390, hash: '#/nodes' })
  const fault = russian.getByRole('listitem').filter({ hasText: 'Istanbul' })
  await fault.getByText('нет связи по SSH с 192.0.2.7:22: ').waitFor()
  expect(await inspect(russian, 'nodes-faulty-ru-phone')).toEqual([])
  await russian
    .getByRole('listitem')
    .filter({ hasText: 'Helsinki' })
    .getByText('Без наблюдения')
    .waitFor()
  await close(russian)
  panel.area.write("update nodes set last_error = null where code = 'tr1'")
})

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
