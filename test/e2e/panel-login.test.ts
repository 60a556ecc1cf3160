import { generateTOTP } from '@oslojs/otp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCREENS } from '#src/admin-ui/routes.ts'
import { fromBase32 } from '#src/lib/encoding.ts'
import {
  answer,
  button,
  close,
  dialog,
  field,
  heading,
  inspect,
  missingPairs,
  openPanel,
  type Page,
  type PanelBrowser,
  soon,
  toast,
  visit,
} from '#test/support/browser/panel-browser.ts'
import { tgIdOf } from '#test/support/browser/panel-seed.ts'
import { PASSWORD } from '#test/support/drivers/process.ts'

const WORDS = {
  en: {
    title: 'Log in',
    logIn: 'Log in',
    user: 'User name',
    password: 'Password',
    refused: /password/i,
    overview: 'Overview',
    more: 'More',
    logOut: 'Log out',
  },
  ru: {
    title: 'Вход',
    logIn: 'Войти',
    user: 'Логин',
    password: 'Пароль',
    refused: /парол/i,
    overview: 'Обзор',
    more: 'Ещё',
    logOut: 'Выйти',
  },
}

/** The screens by their routes, as the bar of a phone and their own headings have them. */
const TITLES: Record<string, string> = {
  '/traffic': 'Traffic',
  '/log': 'Activity log',
  '/users': 'Users',
  '/subscriptions': 'Subscriptions',
  '/payments': 'Payments',
  '/gifts': 'Gift codes',
  '/plans': 'Plans & prices',
  '/nodes': 'Nodes',
  '/settings': 'Settings',
  '/admins': 'Admins',
  '/security': 'Security',
  '/backup': 'Backup',
  '/api': 'API reference',
  // Last: it is there already.
  '/': 'Overview',
}

async function logIn(page: Page, password = PASSWORD, t = WORDS.en): Promise<void> {
  await page.getByLabel(t.user, { exact: true }).fill('admin')
  await page.getByLabel(t.password, { exact: true }).fill(password)
  await page.getByRole('button', { name: t.logIn }).click()
}

const overview = (page: Page) => heading(page, 'Overview')

const themeOf = (page: Page) => page.evaluate(() => document.documentElement.dataset.theme ?? null)

describe('a session', () => {
  let panel: PanelBrowser
  beforeAll(async () => {
    panel = await openPanel()
  })
  afterAll(() => panel.close())

  test.each([
    { runtime: 'node', width: 1440, theme: 'light', lang: 'en' },
    { runtime: 'bun', width: 390, theme: 'dark', lang: 'ru' },
  ] as const)(
    'a wrong password stays on the page and says so, the right one opens the overview, at $width px, $theme, $lang, on $runtime',
    async (view) => {
      const { runtime, lang, width } = view
      const t = WORDS[lang]
      const page = await panel.open({ ...view, login: false })
      expect(await inspect(page, `login-${runtime}`)).toEqual([])
      await logIn(page, 'wrong', t)
      await page.getByRole('alert').getByText(t.refused).waitFor()
      expect(await page.getByLabel(t.user, { exact: true }).inputValue()).toBe('admin')
      expect(await inspect(page, `login-refused-${runtime}`)).toEqual([])
      await logIn(page, PASSWORD, t)
      await heading(page, t.overview)
      if (width === 390) await button(page, t.more).click()
      await button(page, t.logOut).click()
      await heading(page, t.title)
      await page.reload()
      await heading(page, t.title)
      expect(panel.faults).toEqual([])
      await close(page)
    },
  )

  test('a session that ends asks for a login over the screen, and goes on where it was', async () => {
    const page = await panel.open({ runtime: 'bun', hash: '#/?days=90' })
    await overview(page)
    panel.area.write('delete from admin_sessions')
    await page.evaluate(() => {
      location.hash = '#/?days=365'
    })
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
    // A browser lets a page refuse the first, not the second.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    expect(await inspect(page, 'login-again')).toEqual([])
    await logIn(page)
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect(new URL(page.url()).hash).toBe('#/?days=365')
    await page.locator('.time-chart .u-over').waitFor()
    expect(await page.getByRole('button', { name: 'Year' }).getAttribute('aria-pressed')).toBe(
      'true',
    )
    expect(panel.faults).toEqual([])
    await close(page)
  })

  test('what was typed when the session ended is there after the login, and is saved', async () => {
    const page = await panel.open({ login: false, hash: '#/plans', width: 390 })
    await logIn(page)
    await button(page, 'Add a plan').click()
    const typed = { Code: 'kept', Name: 'Kept', Length: '21', Price: '77' }
    for (const [label, value] of Object.entries(typed)) await field(page, label).fill(value)
    panel.area.write('delete from admin_sessions')
    await answer(page, 'Add the plan')
    const ended = page.getByRole('heading', { name: 'Your session has ended' })
    await ended.waitFor()
    expect(await inspect(page, 'login-over-form')).toEqual([])
    await logIn(page)
    await ended.waitFor({ state: 'detached' })
    for (const [label, value] of Object.entries(typed)) {
      expect(await field(page, label).inputValue()).toBe(value)
    }
    expect(await dialog(page).getByRole('alert').count()).toBe(0)
    await answer(page, 'Add the plan')
    await toast(page, 'Kept is on sale')
    expect(
      panel.area.query("select label, days, price from plans where code = 'kept'"),
    ).toMatchObject([{ label: 'Kept', days: 21, price: 77 }])
    expect(panel.faults).toEqual([])
    await close(page)
  })

  test('the files of the panel are compressed, immutable and nowhere but below the secret path', async () => {
    const html = (await panel.server.call('/hidden')).text
    const script = /<script type="module" src="([^"]+)"/.exec(html)?.[1] ?? ''
    const answer = await panel.server.call(script)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('content-encoding')).toMatch(/^(br|gzip)$/)
    const name = script.slice(script.lastIndexOf('/'))
    expect((await panel.server.call(`/assets${name}`)).status).toBe(404)
    expect((await panel.server.call(`/admin/assets${name}`)).status).toBe(404)
  })
})

describe('with a second factor, and elsewhere', () => {
  let panel: PanelBrowser
  beforeAll(async () => {
    panel = await openPanel({ runtime: 'bun' })
  })
  afterAll(() => panel.close())

  test('a page over plain http says at once, and after the login, that browsers drop the cookie there', async () => {
    const page = await panel.open({ login: false, host: 'panel.test' })
    await page.getByText('This page came over plain http').waitFor()
    expect(await inspect(page, 'login-insecure')).toEqual([])
    await logIn(page)
    await page.getByText('the browser dropped the session cookie').waitFor()
    expect(await page.getByLabel('User name').inputValue()).toBe('admin')
    await close(page)
  })

  test('theme and language stay as chosen, from the first moment of the next page', async () => {
    const page = await panel.open({ login: false, lang: 'ru' })
    await button(page, 'Тема: светлая или тёмная').click()
    await button(page, 'Язык').click()
    await page.getByRole('menuitem', { name: 'English' }).click()
    await heading(page, 'Log in')
    const response = await page.reload()
    expect(await response?.text()).toMatch(/^<!doctype html>\n<html lang="en" data-theme="dark">/)
    await heading(page, 'Log in')
    expect(await themeOf(page)).toBe('dark')
    expect(await inspect(page, 'login-dark-en')).toEqual([])
    await close(page)
  })

  test('keys find screens and tell what keys there are', async () => {
    const page = await panel.open()
    await overview(page)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('zzzz')
    await page.getByText('Nothing found').waitFor()
    for (const [words, found] of [
      ['2fa', 'Security'],
      ['device limit', 'Device limit'],
      ['nodes', 'Nodes'],
    ]) {
      await page.getByRole('combobox').fill(words ?? '')
      expect(await page.getByRole('option').allTextContents()).toContainEqual(
        expect.stringContaining(found ?? ''),
      )
    }
    await page.getByRole('combobox').fill('theme')
    expect(await inspect(page, 'palette')).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('combobox').waitFor({ state: 'detached' })
    expect(await themeOf(page)).toBe('dark')
    await page.keyboard.press('?')
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await inspect(page, 'shortcuts')).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' })
    await visit(page, '/nowhere')
    await page.getByText('There is no such screen').waitFor()
    const led = { o: 'Overview', p: 'Payments', n: 'Nodes', s: 'Settings', u: 'Users' }
    for (const [letter, title] of Object.entries(led)) {
      await page.keyboard.press('g')
      await page.keyboard.press(letter)
      await heading(page, title)
    }
    const search = page.getByRole('searchbox')
    await search.waitFor()
    await page.keyboard.press('/')
    expect(await search.evaluate((input) => input === document.activeElement)).toBe(true)
    expect(await search.inputValue()).toBe('')
    // While somebody types they are letters.
    await page.keyboard.type('go?')
    expect(await search.inputValue()).toBe('go?')
    await heading(page, 'Users')
    await close(page)
  })

  test('typing into the palette finds a screen and a user, and opens them', async () => {
    const page = await panel.open({ theme: 'dark' })
    await overview(page)
    const find = dialog(page).getByRole('combobox')
    const options = dialog(page).getByRole('option')
    await page.keyboard.press('Control+k')
    await find.fill('GIFT')
    await soon(() => options.allTextContents()).toEqual(['Gift codesScreen'])
    await page.keyboard.press('Enter')
    await heading(page, 'Gift codes')
    await find.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await find.fill('d_volkov')
    // n = 2, 10, …: of many the service gives the first few.
    await soon(() => options.allTextContents()).toSatisfy(
      (all: string[]) => all.length === 6 && all.every((text) => /^@d_volkov\d*User/.test(text)),
    )
    await find.fill('d_volkov18')
    await soon(() => options.allTextContents()).toEqual([`@d_volkov18User ${tgIdOf(18)}`])
    await options.first().click()
    await page.getByRole('dialog', { name: '@d_volkov18' }).waitFor()
    expect(new URL(page.url()).hash).toBe(`#/users?user=${tgIdOf(18)}`)
    await close(page)
  })

  test('a phone reaches every screen by its bar', async () => {
    const page = await panel.open({ width: 390 })
    await overview(page)
    const bar = page.getByRole('navigation')
    const more = bar.getByRole('button', { name: 'More' })
    await more.click()
    expect(await inspect(page, 'more-390')).toEqual([])
    await page.keyboard.press('Escape')
    expect(Object.keys(TITLES).sort()).toEqual(SCREENS.map(({ path }) => path).sort())
    for (const [path, name] of Object.entries(TITLES)) {
      await more.click()
      await dialog(page).getByRole('link', { name, exact: true }).click()
      await heading(page, name)
      expect(new URL(page.url()).hash).toBe(`#${path}`)
      await dialog(page).waitFor({ state: 'detached' })
    }
    for (const name of ['Users', 'Payments', 'Nodes', 'Overview']) {
      await bar.getByRole('link', { name, exact: true }).click()
      await heading(page, name)
    }
    expect(panel.faults.splice(0)).toEqual([])
    await close(page)
  })

  test('a wrong code stays, the right one enters by itself', async () => {
    const { secret } = (await panel.admin('/2fa/setup', {})) as { secret: string }
    const key = fromBase32(secret) as Uint8Array
    const code = () => generateTOTP(key, 30, 6)
    await panel.admin('/2fa/enable', { secret, code: code() })
    panel.area.write('update admins set totp_last_step = null')
    const page = await panel.open({ login: false })
    await logIn(page)
    await page.getByRole('heading', { name: 'Two-factor code' }).waitFor()
    expect(await inspect(page, 'login-code')).toEqual([])
    const wrong = code() === '000000' ? '000001' : '000000'
    await page.getByLabel('Code').fill(wrong)
    await page.getByRole('alert').waitFor()
    expect(await page.getByLabel('Code').inputValue()).toBe(wrong)
    await page.getByLabel('Code').fill(code())
    await overview(page)
    expect(panel.faults).toEqual([])
    await close(page)
  })

  test('a lost connection shows a bar, which goes when the service is back', async () => {
    const page = await panel.open({ runtime: 'node', width: 390, theme: 'dark', lang: 'ru' })
    await heading(page, 'Обзор')
    await page.context().setOffline(true)
    await page.getByText('Связь потеряна').waitFor()
    expect(await inspect(page, 'offline')).toEqual([])
    await page.context().setOffline(false)
    await page.getByText('Связь потеряна').waitFor({ state: 'detached' })
    await close(page)
  })
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
