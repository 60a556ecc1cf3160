/** Every screen of the panel, and how it is brought about in a window that has shown others. */
import type { ShellTexts } from '#src/admin-ui/i18n/shell.en.ts'
import { SCREENS } from '#src/admin-ui/routes.ts'
import { type Page, soon, visit } from './panel-browser.ts'
import { tgIdOf } from './panel-seed.ts'

export interface PanelScreen {
  name: string
  kind: 'screen' | 'settings' | 'card' | 'wizard'
  route: string
  /** It lies in a dialog over the screen of its route. */
  dialog?: true
  /** What is done on the screen of its route to get there. */
  act?: (page: Page) => Promise<unknown>
}

/** Complete, as the type says; the texts themselves are read in browsers only. */
const TABS: Record<keyof ShellTexts['settings'], true> = {
  ...{ brand: true, bot: true, payments: true, receipts: true, legal: true },
  ...{ devices: true, apps: true, lists: true, webhook: true, alerts: true },
}

/** The screens of the navigation with their tabs. */
export const PLAIN_SCREENS: PanelScreen[] = [
  ...SCREENS.filter(({ path }) => path !== '/settings').map(
    ({ title, path }): PanelScreen => ({ name: title, kind: 'screen', route: path }),
  ),
  { name: 'events', kind: 'screen', route: '/log/events' },
  { name: 'node-groups', kind: 'screen', route: '/nodes/groups' },
  ...Object.keys(TABS).map(
    (tab): PanelScreen => ({
      name: `settings-${tab}`,
      kind: 'settings',
      route: `/settings/${tab}`,
    }),
  ),
]

const card = (name: string, route: string, act?: PanelScreen['act']): PanelScreen => ({
  name,
  kind: 'card',
  route,
  dialog: true,
  ...(act && { act }),
})

/** The card of the n-th user of the seed. */
export const userCard = (n: number) => card(`user-${n}`, `/users?user=${tgIdOf(n)}`)

/** The form for a customer who need not be on Telegram. */
export const NEW_CUSTOMER = card('new-customer', '/users', (page) =>
  page.locator('.page-actions button').first().click(),
)

/** The form of a group of nodes. */
export const NEW_GROUP = card('new-group', '/nodes/groups', (page) =>
  page.locator('.page-actions button').first().click(),
)

/** The card of the n-th payment in review. */
export const paymentCard = (n: number) =>
  card(`payment-${n}`, '/payments?review=1', (page) => page.locator('.cell-open').nth(n).click())

export const nodeCard = (code: string) => card(`node-${code}`, `/nodes?node=${code}`)

/** The keys of a node that shows another one. */
export const hostKeys = (code: string) => card(`host-keys-${code}`, `/nodes?trust=${code}`)

export const nodeSetup = (code: string): PanelScreen => ({
  name: `setup-${code}`,
  kind: 'wizard',
  route: `/nodes/setup/${code}`,
})

/** The two steps of the wizard that adds a node. */
export const ADD_NODE: PanelScreen[] = [
  { name: 'add-server', kind: 'wizard', route: '/nodes/add' },
  {
    name: 'add-transports',
    kind: 'wizard',
    route: '/nodes/add',
    async act(page) {
      await page.locator('[name="label"]').fill('Prague')
      await page.locator('[name="address"]').fill('prague.example.com')
      await page.locator('[name="address"]').press('Enter')
      await page.locator('fieldset.transport').waitFor()
    },
  },
]

const whole = async (page: Page) => {
  await page.locator('main h1').waitFor()
  await soon(() => page.locator('.skel').count()).toBe(0)
}

/** Shows a screen, with all that it has to load. */
export async function show(page: Page, { route, dialog, act }: PanelScreen): Promise<void> {
  const typed = await page.locator('form[data-changed]').count()
  await visit(page, route)
  if (typed > 0) await page.locator('dialog[open] .danger').last().click()
  // Until then the former screen may still be there.
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  )
  await whole(page)
  await act?.(page)
  if (dialog) await page.locator('dialog[open]').waitFor()
  await whole(page)
}

/** Answers in place of the machines of nodes, who say of themselves what they are told to. */
export const answerMetrics = (page: Page, wordsOf?: (code: string) => string) =>
  page.route('**/admin/api/nodes/*/metrics', (route) => {
    const code = /nodes\/([^/]+)\/metrics/.exec(route.request().url())?.[1] ?? ''
    const words = wordsOf?.(code)
    const texts = {
      mem_fmt: words ?? '512 / 1024 MB',
      uptime_fmt: words ?? '1 d',
      core_version: words ?? '26.7.28',
      ...(words !== undefined && { error: words }),
    }
    const sizes = { mem_total_mb: 1024, mem_used_mb: 512, uptime_s: 86_400, clients: 3 }
    return route.fulfill({ json: { ok: true, core_up: true, ...sizes, ...texts } })
  })
