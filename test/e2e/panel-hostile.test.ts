/** What customers, nodes and strangers may write, on every screen of the panel: shown as text, never run, with the page's policy and without it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Circumstances, OPPOSITES } from '#test/support/browser/pairs.ts'
import {
  button,
  close,
  dialog,
  missingPairs,
  openPanel,
  type Page,
  type PanelBrowser,
  soon,
} from '#test/support/browser/panel-browser.ts'
import {
  ADD_NODE,
  answerMetrics,
  hostKeys,
  NEW_GROUP,
  nodeCard,
  nodeSetup,
  type PanelScreen,
  PLAIN_SCREENS,
  paymentCard,
  show,
  userCard,
} from '#test/support/browser/panel-screens.ts'
import { tgIdOf } from '#test/support/browser/panel-seed.ts'
import { CORPUS } from '#test/support/hostile-texts.ts'

/** Another's address, where nobody listens. */
const STRANGER = 'http://stranger.test:9/'

const TEXTS = Object.values(CORPUS)
/** By their places in TEXTS. */
const KINDS = TEXTS.map((_, kind) => kind)

/** The n-th user, node, payment… has the n-th text, and the texts begin anew. */
const textOf = (n: number) => TEXTS[n % TEXTS.length] as string

/** Plain screens where every text is to be read. */
const LISTS = [
  'overview',
  'traffic',
  'log',
  'events',
  'users',
  'subscriptions',
  'payments',
  'gifts',
  'plans',
  'nodes',
  'node-groups',
  'admins',
  'security',
]

interface Shown {
  screen: PanelScreen
  /** The texts that it shows… */
  kinds: number[]
  /** …at least so many times: else nothing was tried. */
  times: number
}

const ofKind =
  (times: number, screenOf: (n: number) => PanelScreen) =>
  (n: number): Shown => ({ screen: screenOf(n), kinds: [n], times })

const ALL: Shown[] = [
  ...[...PLAIN_SCREENS, ...ADD_NODE].map((screen) => ({
    screen,
    kinds: LISTS.includes(screen.name) ? KINDS : [],
    times: 1,
  })),
  // The user's names, address and tag; model, system, program and id of their device.
  ...KINDS.map(ofKind(8, userCard)),
  // Whose it is, why it is in review, why it failed, its number.
  ...KINDS.map(ofKind(4, paymentCard)),
  // The labels of all nodes.
  { screen: NEW_GROUP, kinds: KINDS, times: 1 },
  // Label, step and reason.
  ...KINDS.map(ofKind(2, (n) => nodeCard(`failed${n}`))),
  ...KINDS.map(ofKind(2, (n) => nodeCard(`away${n}`))),
  // Label, memory, version of the core, fault.
  ...KINDS.map(ofKind(4, (n) => nodeCard(`live${n}`))),
  ...KINDS.map(ofKind(1, (n) => hostKeys(`key${n}`))),
  ...KINDS.map(ofKind(2, (n) => nodeSetup(`failed${n}`))),
  ...KINDS.map(ofKind(2, (n) => nodeSetup(`away${n}`))),
]

let panel: PanelBrowser
beforeAll(async () => {
  const env = { SYNC_INTERVAL_MS: '3600000' }
  const seed = { users: 12, troubles: TEXTS.length, text: textOf }
  panel = await openPanel({ seed, env })
  const { area } = panel
  // What admins may write.
  for (const [n, code] of ['1m', '3m', '6m', '12m'].entries()) {
    area.write('update plans set label = ? where code = ?', textOf(n), code)
    const name = 'insert into admins (username, password_hash, created_at) values (?, ?, ?)'
    area.write(name, textOf(n), 'none', '2026-01-01T00:00:00')
  }
  for (const n of KINDS) {
    const made = 'insert into node_groups (code, label, sort_order, created_at) values (?, ?, ?, ?)'
    area.write(made, `group-${n}`, textOf(n), n, '2026-01-01T00:00:00')
  }
  for (const key of ['BRAND_NAME', 'SUPPORT_CONTACT', 'LEGAL_NAME', 'RECEIPT_EMAIL']) {
    area.write('insert into settings (key, value) values (?, ?)', key, TEXTS.join(' '))
  }
})
afterAll(() => panel.close())

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

/** Counts what a window tries to run. */
function watchRuns(page: Page): string[] {
  const ran: string[] = []
  page.on('dialog', (dialog) => {
    ran.push(page.url())
    void dialog.dismiss()
  })
  return ran
}

const beginningOf = (kind: number) => textOf(kind).slice(0, 12).toLowerCase()

async function look(page: Page, { screen, kinds, times }: Shown): Promise<void> {
  await show(page, screen)
  const place = page.locator(screen.dialog ? 'dialog[open]' : 'main')
  const unread = async () => {
    const words = (await place.innerText()).toLowerCase()
    return kinds.filter((kind) => words.split(beginningOf(kind)).length <= times)
  }
  await soon(async () => [screen.name, ...(await unread())]).toEqual([screen.name])
  expect([screen.name, await intruders(page)]).toEqual([screen.name, []])
}

test.each(OPPOSITES.map((views, round) => ({ views, round })))(
  'no text runs on any screen, and each is read where it belongs ($round)',
  async ({ views, round }) => {
    const walk = async (view: Circumstances, bypassCSP: boolean) => {
      const page = await panel.open({ ...view, bypassCSP })
      const ran = watchRuns(page)
      await answerMetrics(page, (code) => textOf(Number(code.at(-1))))
      for (const shown of ALL.filter((_, n) => n % OPPOSITES.length === round)) {
        await look(page, shown)
      }
      expect(ran).toEqual([])
      await close(page)
    }
    // The one with the page's policy, the other without it.
    await Promise.all(views.map((view, n) => walk(view, n === 1)))
    expect(panel.faults).toEqual([])
  },
)

test('such text would run, and would be found, where it became markup and the policy were off', async () => {
  const insert = (text: string) => document.body.insertAdjacentHTML('beforeend', text)
  const strict = await panel.open()
  await expect(strict.evaluate(insert, CORPUS.tags)).rejects.toThrow('TrustedHTML')
  await soon(() => panel.faults).toContainEqual(
    expect.stringMatching(/^CSP: require-trusted-types-for trusted-types-sink /),
  )
  await strict.evaluate((url) => fetch(url).catch(() => null), STRANGER)
  await soon(() => panel.faults).toContainEqual(`CSP: connect-src ${STRANGER} `)
  await close(strict)
  panel.faults.splice(0)
  const page = await panel.open({ bypassCSP: true })
  const ran = watchRuns(page)
  await page.evaluate(insert, CORPUS.tags)
  await soon(() => ran.length).toBeGreaterThan(0)
  expect(await intruders(page)).toContain('ran')
  expect(panel.faults.splice(0)).toContainEqual(expect.stringMatching(/^404 .*\/x$/))
  await page.evaluate((url) => {
    new Image().src = url
  }, STRANGER)
  await soon(() => panel.faults.splice(0)).toContainEqual(`asks ${STRANGER}`)
  await close(page)
})

test('no name runs among the findings of the palette, in a question or in a message', async () => {
  const page = await panel.open({ bypassCSP: true })
  const ran = watchRuns(page)
  const words = async (text: string | null) => (text ?? '').toLowerCase()
  for (const kind of KINDS) {
    // The second users of the same names: those of the first are still to be read elsewhere.
    const user = KINDS.length + kind
    await page.goto(`${panel.url}#/`)
    await page.locator('main h1').waitFor()
    await page.keyboard.press('Control+k')
    await dialog(page)
      .getByRole('combobox')
      .fill(String(tgIdOf(user)))
    const found = dialog(page).getByRole('option')
    await soon(async () => words(await found.first().textContent())).toContain(beginningOf(kind))
    expect(await intruders(page)).toEqual([])
    await found.first().click()
    await button(page, 'Delete user').click()
    const question = page.getByRole('dialog').last()
    await soon(async () => words(await question.textContent())).toContain(
      `delete @${beginningOf(kind)}`,
    )
    expect(await intruders(page)).toEqual([])
    await question.getByRole('textbox').fill(`@${textOf(user)}`)
    await question.getByRole('button', { name: 'Delete user' }).click()
    const message = page.locator('.toast').last()
    await soon(async () => words(await message.textContent())).toContain(beginningOf(kind))
    expect(await message.textContent()).toContain('is deleted')
    expect(await intruders(page)).toEqual([])
  }
  expect(ran).toEqual([])
  expect(panel.faults).toEqual([])
  await close(page)
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
