/** What all lists and forms of the panel have in common: selections, cards in place of rows, nothing typed lost. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  answer,
  button,
  close,
  inspect,
  missingPairs,
  openPanel,
  type PanelBrowser,
  rows,
  soon,
  visit,
} from '#test/support/browser/panel-browser.ts'
import { tgIdOf } from '#test/support/browser/panel-seed.ts'

const ANNA = tgIdOf(0)

let panel: PanelBrowser
beforeAll(async () => {
  panel = await openPanel({ runtime: 'bun', seed: { users: 120 } })
})
afterAll(() => panel.close())

test('what is selected but not in sight is told, and let go when others are looked for', async () => {
  const page = await panel.open({ hash: '#/users', runtime: 'node', theme: 'dark', lang: 'ru' })
  await soon(() => rows(page).count()).toBe(50)
  const selectAll = page.getByRole('checkbox', { name: 'Выбрать всё на странице' })
  await selectAll.check()
  await page.getByText('Выбрано: 50', { exact: true }).waitFor()
  await button(page, 'Вперёд').click()
  await page.getByText('Выбрано: 50, из них не на экране: 50', { exact: true }).waitFor()
  await rows(page).getByRole('checkbox').first().check()
  await page.getByText('Выбрано: 51, из них не на экране: 50', { exact: true }).waitFor()
  expect(await inspect(page, 'users-selected')).toEqual([])
  await page.getByRole('searchbox').fill('oleg119')
  await soon(() => rows(page).count()).toBe(1)
  expect(await page.locator('.bulk').count()).toBe(0)
  await selectAll.check()
  await page.getByText('Выбрано: 1', { exact: true }).waitFor()
  await button(page, 'Истёк').click()
  await soon(() => page.locator('.bulk').count()).toBe(0)
  await close(page)
})

test('phones sort and select too', async () => {
  const page = await panel.open({ hash: '#/users', width: 390, lang: 'ru' })
  await soon(() => rows(page).count()).toBe(50)
  const order = button(page, 'Пользователь')
  await order.click()
  await soon(() => rows(page).first().textContent()).toContain(String(tgIdOf(119)))
  await order.click()
  await soon(() => rows(page).first().textContent()).toContain(String(ANNA))
  await page.getByRole('checkbox', { name: 'Выбрать всё на странице' }).check()
  await page.getByText('Выбрано: 50', { exact: true }).waitFor()
  expect(await inspect(page, 'users-phone-selected')).toEqual([])
  await close(page)
})

test('phones see what is left of a subscription', async () => {
  const hash = `#/subscriptions?q=${tgIdOf(13)}`
  const page = await panel.open({ hash, runtime: 'node', width: 390, theme: 'dark' })
  await soon(() => rows(page).count()).toBe(1)
  for (const title of ['Days left', 'Traffic']) {
    expect(await rows(page).locator(`[data-title="${title}"]`).isVisible()).toBe(true)
  }
  await button(page, 'Ends').click()
  await soon(() => page.url()).toContain('sort=expires_at')
  await close(page)
})

test('between phones and desks lists fit their place, with all columns', async () => {
  const page = await panel.open({ hash: `#/users?q=${tgIdOf(13)}`, theme: 'dark' })
  await soon(() => rows(page).count()).toBe(1)
  // 65 days and an hour: every screen counts the begun day.
  expect(await rows(page).locator('[data-title="Ends in"]').textContent()).toBe('66 days')
  await page.setViewportSize({ width: 1024, height: 900 })
  for (const [route, title] of [
    ['users', 'Created'],
    ['subscriptions', 'Days left'],
    ['payments', 'Amount'],
  ]) {
    await visit(page, `/${route}?q=${tgIdOf(13)}`)
    const cell = rows(page).locator(`[data-title="${title}"]`)
    await cell.waitFor()
    if (title === 'Days left') expect(await cell.textContent()).toBe('66')
    const box = page.locator('.table-box')
    expect(await box.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0)
  }
  await close(page)
})

test('what is typed in a card stays until it is sent or discarded', async () => {
  const page = await panel.open({ hash: '#/users?sort=tg_id&order=asc', runtime: 'node' })
  await page.getByText('@anna', { exact: true }).click()
  const card = page.getByRole('dialog', { name: '@anna' })
  const note = card.getByRole('textbox', { name: 'Note' })
  await note.fill('calls at night')
  const asked = page.getByRole('dialog', { name: 'Discard what you typed?' })
  await page.keyboard.press('Escape')
  await asked.waitFor()
  // A browser lets a page keep a dialog open once: further presses close it whatever the page says.
  for (let times = 0; times < 3; times++) {
    await page.keyboard.press('Escape')
    await asked.waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await asked.waitFor()
  }
  expect(await note.isVisible()).toBe(true)
  await answer(page, 'Cancel')
  expect(await note.inputValue()).toBe('calls at night')
  await page.goBack()
  await asked.waitFor()
  await answer(page, 'Cancel')
  expect(page.url()).toContain(`user=${ANNA}`)
  expect(await note.inputValue()).toBe('calls at night')
  await card.getByRole('button', { name: 'Close' }).click()
  await answer(page, 'Discard')
  await card.waitFor({ state: 'detached' })
  await page.getByText('@anna', { exact: true }).click()
  await note.waitFor()
  expect(await note.inputValue()).not.toBe('calls at night')
  await page.keyboard.press('Escape')
  await card.waitFor({ state: 'detached' })
  await close(page)
})

test('nothing broke the policy, failed in the console or asked others', () => {
  expect(panel.faults).toEqual([])
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
