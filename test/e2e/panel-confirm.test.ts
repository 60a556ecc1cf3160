/** The panel asks who it is: before what the thief of a session would do, at a login without the app, where a second factor is required. */
import { generateTOTP } from '@oslojs/otp'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { fromBase32 } from '#src/lib/encoding.ts'
import {
  answer,
  button,
  close,
  dialog,
  heading,
  inspect,
  missingPairs,
  openPanel,
  type Page,
  type PanelBrowser,
  toast,
  visit,
} from '#test/support/browser/panel-browser.ts'
import { PASSWORD } from '#test/support/drivers/process.ts'

let panel: PanelBrowser
beforeAll(async () => {
  panel = await openPanel()
})
afterAll(() => panel.close())
/** As ten minutes make it of a session that the login page made. */
const forget = () => panel.area.write('update admin_sessions set panel = 1, confirmed_at = null')
beforeEach(() => panel.area.write("delete from settings where key = 'REQUIRE_2FA'"))
afterEach(() => expect(panel.faults.splice(0)).toEqual([]))

async function logIn(page: Page): Promise<void> {
  await page.getByLabel('User name', { exact: true }).fill('admin')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await button(page, 'Log in').click()
}

const codeOf = (secret: string) => generateTOTP(fromBase32(secret) as Uint8Array, 30, 6)

test('the login page marks its session and makes the browser known', async () => {
  const page = await panel.open({ login: false })
  await logIn(page)
  await heading(page, 'Overview')
  const [session] = panel.area.query<{ panel: number; confirmed_at: string }>(
    'select panel, confirmed_at from admin_sessions order by id desc limit 1',
  )
  expect(session).toEqual({ panel: 1, confirmed_at: expect.any(String) })
  const cookies = await page.context().cookies(`${new URL(page.url()).origin}/admin/api/login`)
  expect(cookies.map(({ name }) => name)).toContain('panel_device')
  await close(page)
})

test('a change waits for the password and is made then, with all that was typed', async () => {
  const page = await panel.open({ hash: '#/settings/alerts', width: 390, theme: 'dark' })
  await page.getByRole('textbox').first().fill('501')
  forget()
  await button(page, 'Save').click()
  await dialog(page).getByText('Confirm that it is you').waitFor()
  expect(await inspect(page, 'reauth')).toEqual([])
  await dialog(page).getByLabel('Password', { exact: true }).fill('not this one')
  await answer(page, 'Confirm')
  await dialog(page).getByText('wrong password').waitFor()
  await dialog(page).getByLabel('Password', { exact: true }).fill(PASSWORD)
  await answer(page, 'Confirm')
  await toast(page, 'Saved')
  expect(await panel.admin('/settings/alerts')).toEqual({ admin_tg_ids: [501] })
  await close(page)
})

test('one who thinks better of it changes nothing, and may try again', async () => {
  const page = await panel.open({ hash: '#/admins', lang: 'ru', runtime: 'bun' })
  await button(page, 'Добавить администратора').click()
  await dialog(page).getByLabel('Логин', { exact: true }).fill('helper')
  await dialog(page).getByLabel('Пароль', { exact: true }).fill('long enough 1')
  forget()
  await answer(page, 'Добавить')
  await dialog(page).getByText('Подтвердите, что это вы').waitFor()
  expect(await inspect(page, 'reauth-ru')).toEqual([])
  await dialog(page).getByRole('button', { name: 'Закрыть' }).click()
  await dialog(page).getByRole('alert').getByText('Подтвердите, что это вы').waitFor()
  expect(await dialog(page).getByLabel('Логин', { exact: true }).inputValue()).toBe('helper')
  expect(panel.area.query("select * from admins where username = 'helper'")).toEqual([])
  await close(page)
})

test('a download and an upload are asked for before they begin', async () => {
  const page = await panel.open({ hash: '#/backup', theme: 'dark' })
  const link = page.getByRole('link', { name: 'Download a backup' })
  await link.waitFor()
  forget()
  const downloads = page.waitForEvent('download')
  await link.click()
  await dialog(page).getByLabel('Password', { exact: true }).fill(PASSWORD)
  await answer(page, 'Confirm')
  expect((await downloads).suggestedFilename()).toMatch(/\.tar\.gz$/)
  forget()
  const file = { name: 'x.tar.gz', mimeType: 'application/gzip', buffer: Buffer.from('no backup') }
  await page.getByLabel('Backup file').setInputFiles(file)
  await button(page, 'Restore').click()
  await dialog(page)
    .getByLabel(/Type RESTORE/)
    .fill('RESTORE')
  await answer(page, 'Restore')
  await dialog(page).getByText('Confirm that it is you').waitFor()
  await dialog(page).getByLabel('Password', { exact: true }).fill(PASSWORD)
  await answer(page, 'Confirm')
  await page.getByRole('alert').getByText('archive').waitFor()
  await close(page)
})

test('recovery codes are shown once, and one of them logs in where the app is lost', async () => {
  const page = await panel.open({ hash: '#/security', width: 390, runtime: 'bun' })
  await button(page, 'Set up').click()
  const secret = await dialog(page).getByRole('textbox').first().inputValue()
  await dialog(page).getByLabel('6-digit code').fill(codeOf(secret))
  await answer(page, 'Switch on')
  await toast(page, 'From now on a code is asked for')
  await dialog(page).getByLabel('Current password').fill(PASSWORD)
  await answer(page, 'Show the codes')
  const codes = ((await dialog(page).locator('pre').textContent()) ?? '').split('\n')
  expect(codes).toHaveLength(10)
  expect(await inspect(page, 'recovery-codes')).toEqual([])
  await answer(page, 'I have kept them')
  await page.getByText('10 recovery codes are left').waitFor()
  await close(page)

  const other = await panel.open({ login: false, theme: 'dark' })
  await logIn(other)
  await button(other, 'Use a recovery code').click()
  expect(await inspect(other, 'login-recovery')).toEqual([])
  await other.getByLabel('Recovery code').fill(codes[3] ?? '')
  await button(other, 'Confirm').click()
  await heading(other, 'Overview')
  await visit(other, '/security')
  await other.getByText('9 recovery codes are left').waitFor()
  // The rule for all is set by one who has it.
  await other.getByRole('switch', { name: 'Require two-factor login' }).click()
  await button(other, 'Save').click()
  await toast(other, 'Saved')
  expect(panel.area.query("select value from settings where key = 'REQUIRE_2FA'")).toEqual([
    { value: 'true' },
  ])
  await button(other, 'Switch off').click()
  await dialog(other).getByText('you will have to set it up again at once').waitFor()
  await answer(other, 'Cancel')
  await close(other)
  panel.area.write('update admins set totp_secret = null')
})

test('where it is required, an admin without it sets it up and goes on', async () => {
  const page = await panel.open({ login: false, theme: 'dark', width: 390, runtime: 'bun' })
  panel.area.write("insert into settings (key, value) values ('REQUIRE_2FA', 'true')")
  await logIn(page)
  await heading(page, 'Set up two-factor login')
  expect(await inspect(page, 'enrolment')).toEqual([])
  await button(page, 'Set up').click()
  await dialog(page).getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
  const secret = await dialog(page).getByRole('textbox').first().inputValue()
  await dialog(page).getByLabel('6-digit code').fill(codeOf(secret))
  forget()
  await answer(page, 'Switch on')
  await dialog(page).getByText('Confirm that it is you').waitFor()
  expect(await inspect(page, 'enrolment-reauth')).toEqual([])
  await dialog(page).getByLabel('Password', { exact: true }).fill(PASSWORD)
  await answer(page, 'Confirm')
  await dialog(page).getByLabel('Current password').fill(PASSWORD)
  await answer(page, 'Show the codes')
  await answer(page, 'I have kept them')
  await heading(page, 'Overview')
  await close(page)
})

test('the windows met runtimes, widths, themes and languages pair by pair', async () => {
  const page = await panel.open({ login: false, lang: 'ru', theme: 'dark', width: 390 })
  await close(page)
  expect(missingPairs()).toEqual([])
})
