/** Templates of lists in the panel, and what an app gets: typed, refused, looked at for a customer, saved and taken away. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MIHOMO_TEMPLATE } from '#test/fixtures/lists/templates.ts'
import {
  answer,
  button,
  close,
  dialog,
  inspect,
  missingPairs,
  openPanel,
  type Page,
  type PanelBrowser,
  soon,
  toast,
} from '#test/support/browser/panel-browser.ts'
import { tgIdOf } from '#test/support/browser/panel-seed.ts'

interface Template {
  format: string
  body: string | null
  built_in: string
}

let panel: PanelBrowser
beforeAll(async () => {
  // Where no core of an app is at hand.
  panel = await openPanel({ seed: { users: 5 }, env: { SYNC_INTERVAL_MS: '3600000' } })
})
afterAll(() => panel.close())

const kept = async (format: string) => {
  const { templates } = (await panel.admin('/settings/templates')) as { templates: Template[] }
  return templates.find((one) => one.format === format) as Template
}

/** Finds a customer in a part of a page, and takes the first. */
async function find(page: ReturnType<Page['locator']>, words: string): Promise<void> {
  await page.getByRole('searchbox').fill(words)
  await page
    .getByRole('button', { name: new RegExp(words) })
    .first()
    .click()
}

const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

test('a template begins with our own list, is looked at, saved, refused with its place and taken away', async () => {
  const page = await panel.open({ hash: '#/settings/lists' })
  const templates = card(page, 'Templates')
  const body = templates.getByLabel('Template for Mihomo (YAML)')
  await templates.getByText('None: apps get the built-in list.').waitFor()
  expect(await inspect(page, 'settings-templates-none')).toEqual([])
  await button(page, 'Start from the built-in list').click()
  expect(await body.inputValue()).toBe((await kept('mihomo')).built_in)

  await body.fill(`${MIHOMO_TEMPLATE}external-controller: 0.0.0.0:9090\n`)
  await templates.getByRole('button', { name: 'Save the template' }).click()
  await templates
    .getByRole('alert')
    .getByText("external-controller can't be in a template: it reaches beyond the list")
    .waitFor()
  expect(await inspect(page, 'settings-template-refused')).toEqual([])
  expect((await kept('mihomo')).body).toBeNull()

  await body.fill(MIHOMO_TEMPLATE)
  await templates.getByRole('button', { name: 'Preview' }).click()
  await find(dialog(page), String(tgIdOf(0)))
  const list = dialog(page).getByLabel('List', { exact: true })
  await soon(() => list.inputValue()).toContain('"GEOSITE,category-ru,Past"')
  expect(await inspect(page, 'settings-template-preview')).toEqual([])
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  expect((await kept('mihomo')).body).toBeNull()

  await templates.getByRole('button', { name: 'Save the template' }).click()
  await toast(page, /^Saved\. Its structure alone was checked/)
  expect((await kept('mihomo')).body).toBe(MIHOMO_TEMPLATE)
  await templates.getByRole('button', { name: 'Reset' }).click()
  await answer(page, 'Cancel')
  expect((await kept('mihomo')).body).toBe(MIHOMO_TEMPLATE)
  await templates.getByRole('button', { name: 'Reset' }).click()
  await answer(page, 'Reset')
  await toast(page, 'Saved')
  await soon(async () => (await kept('mihomo')).body).toBeNull()
  await soon(() => body.inputValue()).toBe('')
  await close(page)
})

test('sing-box has one of its own; what is wrong with it is said in Russian, on a phone', async () => {
  const page = await panel.open({
    ...{ hash: '#/settings/lists', width: 390, theme: 'dark', lang: 'ru', runtime: 'bun' },
  })
  await button(page, 'sing-box').click()
  const body = page.getByLabel('Шаблон для sing-box (JSON)')
  await body.fill('{"log": {},}')
  const save = card(page, 'Шаблоны').getByRole('button', { name: 'Сохранить шаблон' })
  await save.click()
  await page.getByText('Шаблон не читается, строка 1, столбец 12: this is no JSON').waitFor()
  expect(await inspect(page, 'settings-template-phone')).toEqual([])
  await button(page, 'Начать со встроенного списка').click()
  await save.click()
  await toast(page, /^Сохранено\. Проверена только структура/)
  const { body: saved, built_in: builtIn } = await kept('singbox')
  expect(saved).toBe(builtIn)
  await close(page)
})

test('a customer’s list is shown as each app gets it, and is no fetch of theirs', async () => {
  const page = await panel.open({ hash: '#/settings/lists', runtime: 'bun' })
  const tgId = tgIdOf(0)
  const before = await panel.admin(`/users/${tgId}`)
  const shown = card(page, 'What an app gets')
  await find(shown, String(tgId))
  const list = shown.getByLabel('List', { exact: true })
  const links = async () => Buffer.from(await list.inputValue(), 'base64').toString('utf8')
  await soon(links).toMatch(/^vless:\/\//)
  await shown.getByText('Headers').click()
  await shown.getByText('profile-update-interval', { exact: true }).waitFor()
  expect(await inspect(page, 'settings-list-preview')).toEqual([])
  const app = shown.getByLabel('App', { exact: true })
  await app.selectOption('sing-box 1.11.15')
  await soon(() => list.inputValue()).toContain('"address": "https://1.1.1.1/dns-query"')
  await app.selectOption('sing-box 1.14.1')
  await soon(() => list.inputValue()).toContain('"type": "https"')
  await app.selectOption('Mihomo, Clash Verge')
  await soon(() => list.inputValue()).toMatch(/^mixed-port: 7890\n/)
  await app.selectOption('Links, as text')
  await soon(() => list.inputValue()).toMatch(/^vless:\/\//)
  await app.selectOption('Another app')
  await shown.getByLabel('User-Agent').fill('Mozilla/5.0')
  await shown.getByText('agent is no client app').waitFor()
  await shown.getByLabel('User-Agent').fill('Happ/1.0')
  await soon(links).toMatch(/^vless:\/\//)
  expect(await panel.admin(`/users/${tgId}`)).toEqual(before)
  await shown.getByRole('button', { name: 'Choose another' }).click()
  await shown.getByRole('searchbox').fill('nobody of this name')
  await shown.getByText('Nobody found').waitFor()
  await close(page)
})

test('one that came with an archive and can’t be used is told of', async () => {
  panel.area.write(
    "insert or replace into list_templates values ('mihomo', 'tunnels: []', '2026-01-01T00:00:00')",
  )
  const page = await panel.open({ hash: '#/settings/lists', theme: 'dark' })
  await page.getByText(/^Not used, apps get the built-in list: tunnels can't be/).waitFor()
  expect(await inspect(page, 'settings-template-fault')).toEqual([])
  await close(page)
  const phone = await panel.open({ hash: '#/settings/lists', width: 390, lang: 'en' })
  await phone.getByText(/^Not used/).waitFor()
  expect(await inspect(phone, 'settings-template-fault-phone')).toEqual([])
  await close(phone)
})

test('a wide page in Russian holds it all', async () => {
  const page = await panel.open({ hash: '#/settings/lists', lang: 'ru' })
  await page
    .getByText(
      'Не используется, приложения получают встроенный список: В шаблоне не может быть tunnels: это больше, чем список',
    )
    .waitFor()
  await find(card(page, 'Что получает приложение'), String(tgIdOf(0)))
  await page.getByLabel('Список', { exact: true }).waitFor()
  expect(await inspect(page, 'settings-templates-ru')).toEqual([])
  await close(page)
})

test('nothing broke the policy, failed in the console or asked others', () => {
  expect(panel.faults).toEqual([])
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
