/** Settings, admins, the own login and the API reference, as an admin goes through them. */
import { generateTOTP } from '@oslojs/otp'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { fromBase32 } from '#src/lib/encoding.ts'
import { accentsOf } from '#src/web/palette.ts'
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
  scanned,
  soon,
  toast,
  visit,
} from '#test/support/browser/panel-browser.ts'
import { PASSWORD } from '#test/support/drivers/process.ts'
import { type FakeSystem, startFakeSystem } from '#test/support/fakes/system.ts'
import { type FakeTelegram, startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { type FakeYookassa, startFakeYookassa } from '#test/support/fakes/yookassa.ts'

const TOKEN = '123456789:AAE-Shop_token_of_the_first_bot_xyz'
const TABS = 'brand bot payments receipts legal devices apps lists webhook alerts'.split(' ')
const NEXT_PASSWORD = 'another long password'

const textbox = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })

let panel: PanelBrowser
let telegram: FakeTelegram
let receiver: FakeSystem
let yookassa: FakeYookassa

beforeAll(async () => {
  telegram = await startFakeTelegram({ [TOKEN]: 'harbour_bot' })
  receiver = await startFakeSystem(() => ({ status: 200 }))
  yookassa = await startFakeYookassa({ '100500': 'live_secret' })
  panel = await openPanel({
    env: { TELEGRAM_API_URL: telegram.url, PROVIDER_A_API_URL: yookassa.url },
  })
})
afterAll(async () => {
  await panel.close()
  await Promise.all([telegram, receiver, yookassa].map((one) => one.close()))
})
afterEach(() => expect(panel.faults.splice(0)).toEqual([]))

async function tabOf(page: Page, tab: string): Promise<void> {
  await visit(page, `/settings/${tab}`)
  await page.locator(`.tabs [aria-current=page][href$="/settings/${tab}"]`).waitFor()
}

/** Presses the button and waits until the service has taken it: the message may be that of the form before. */
async function save(page: Page): Promise<void> {
  await button(page, 'Save').click()
  await toast(page, 'Saved')
  const done = button(page, 'Save').and(page.locator(':disabled:not([aria-busy])'))
  await soon(() => done.count()).toBe(1)
}

describe('settings', () => {
  test.each(['light', 'dark'] as const)('every tab is whole in %s', async (theme) => {
    const page = await panel.open({
      theme,
      lang: 'ru',
      ...(theme === 'dark' && { runtime: 'bun', width: 390 }),
    })
    for (const tab of TABS) {
      await tabOf(page, tab)
      await page.locator('.settings .card').first().waitFor()
      await soon(() => page.locator('.skel').count()).toBe(0)
      expect(await inspect(page, `settings-${tab}-${theme}`)).toEqual([])
    }
    await close(page)
  })

  test('forms of what buyers see are saved; a refusal stands at its field', async () => {
    const page = await panel.open({ hash: '#/settings/brand' })
    await textbox(page, 'Name').fill('Harbour')
    const bot = page.getByRole('link', { name: 'Bot', exact: true })
    await bot.click()
    await page.getByRole('dialog', { name: 'Discard what you typed?' }).waitFor()
    await answer(page, 'Cancel')
    expect(page.url()).toContain('/settings/brand')
    expect(await textbox(page, 'Name').inputValue()).toBe('Harbour')
    await bot.click()
    await answer(page, 'Discard')
    await textbox(page, 'New token from @BotFather').waitFor()
    await tabOf(page, 'brand')
    expect(await textbox(page, 'Name').inputValue()).not.toBe('Harbour')
    await textbox(page, 'Name').fill('Harbour')
    await save(page)
    expect(await panel.admin('/settings/brand')).toMatchObject({ brand_name: 'Harbour' })

    await tabOf(page, 'bot')
    await page.getByText('not set', { exact: true }).waitFor()
    expect(await page.getByText('***').count()).toBe(0)
    await textbox(page, 'New token from @BotFather').fill('1:nobody')
    await button(page, 'Replace').click()
    await page.getByRole('alert').getByText('was rejected by Telegram').waitFor()
    await textbox(page, 'New token from @BotFather').fill(TOKEN)
    await button(page, 'Replace').click()
    await toast(page, 'The bot is now @harbour_bot')
    await page.getByText('12345678...').waitFor()

    await tabOf(page, 'receipts')
    await page.getByRole('combobox', { name: 'Receipts' }).selectOption('on')
    await textbox(page, 'Address for buyers who left none').fill('nobody')
    await button(page, 'Save').click()
    await page.getByRole('alert').getByText('must be an e-mail address').waitFor()
    await textbox(page, 'Address for buyers who left none').fill('till@harbour.test')
    await save(page)
    expect(await panel.admin('/settings/receipts')).toMatchObject({
      mode: 'on',
      email: 'till@harbour.test',
    })

    await tabOf(page, 'legal')
    await textbox(page, 'Seller').fill('Harbour Ltd')
    const unlikely = page.getByText('Does this look right?')
    await textbox(page, 'Tax number (INN)').fill('12')
    await textbox(page, 'Refund within, hours').fill('-3')
    await textbox(page, 'Support e-mail').fill('nomail')
    await soon(() => unlikely.count()).toBe(3)
    expect(await inspect(page, 'settings-legal-unlikely')).toEqual([])
    await textbox(page, 'Tax number (INN)').fill('7707083893')
    await textbox(page, 'Refund within, hours').fill('24')
    await textbox(page, 'Support e-mail').fill('help@harbour.test')
    await soon(() => unlikely.count()).toBe(0)
    await save(page)
    await page.getByText('In force since').waitFor()
    expect(await panel.admin('/payments/legal-settings')).toMatchObject({
      LEGAL_NAME: 'Harbour Ltd',
      SUPPORT_EMAIL: 'help@harbour.test',
    })

    await tabOf(page, 'alerts')
    await textbox(page, 'Telegram ids').fill('42\n\nanna')
    await button(page, 'Save').click()
    await page.getByRole('alert').getByText('anna: must be ').waitFor()
    await textbox(page, 'Telegram ids').fill('42\n43')
    await save(page)
    expect(await panel.admin('/settings/alerts')).toEqual({ admin_tg_ids: [42, 43] })
    await close(page)
  })

  test('the hue of the brand is chosen by its slider, and colours the panel from the next load on', async () => {
    const page = await panel.open({ hash: '#/settings/brand', theme: 'dark' })
    const accent = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--accent'))
    const slider = page.getByRole('slider')
    await soon(() => slider.inputValue()).toBe('255')
    expect(await accent()).toBe(accentsOf(255).dark.accent)
    await slider.fill('28')
    await page.getByText('28°').waitFor()
    await slider.press('ArrowRight')
    await page.getByText('29°').waitFor()
    await save(page)
    expect(await panel.admin('/settings/brand')).toMatchObject({ brand_hue: 29 })
    await page.reload()
    await soon(() => slider.inputValue()).toBe('29')
    expect(await accent()).toBe(accentsOf(29).dark.accent)
    expect(accentsOf(29).dark.accent).not.toBe(accentsOf(255).dark.accent)
    const [red, green, blue] = [1, 3, 5].map((at) =>
      Number.parseInt(accentsOf(29).dark.accent.slice(at, at + 2), 16),
    )
    await textbox(page, 'Name').fill('Harbour 2')
    await soon(() =>
      button(page, 'Save').evaluate((one) => getComputedStyle(one).backgroundColor),
    ).toBe(`rgb(${red}, ${green}, ${blue})`)
    await close(page)
  })

  test('the device limit names whom it locks out, and is set only after a question', async () => {
    const page = await panel.open({ hash: '#/settings/devices', width: 390 })
    await page.getByText(/v2rayNG, Hiddify and Clash apps .* send no device id/).waitFor()
    await page.getByRole('switch').click()
    await button(page, 'Save').click()
    await answer(page, 'Cancel')
    expect(await panel.admin('/hwid-settings')).toMatchObject({ enabled: false })
    await page.getByRole('switch').click()
    await page.getByLabel('Devices per user').fill('4')
    await button(page, 'Save').click()
    await answer(page, 'Switch it on')
    await toast(page, 'Saved')
    expect(await panel.admin('/hwid-settings')).toEqual({ enabled: true, fallback_limit: 4 })
    await close(page)
  })

  test('lists name apps that get Xray JSON, and take no preset whose rule files are not there', async () => {
    const page = await panel.open({ hash: '#/settings/lists', width: 390 })
    await page.getByLabel('Goes direct').selectOption('Russia')
    await button(page, 'Save').click()
    await page.getByText("rule files can't be had: geosite-category-ru.srs").waitFor()
    await page.getByLabel('Goes direct').selectOption('Nothing')
    await page.getByLabel('Apps that get Xray JSON').fill('Happ, v2rayng')
    await page.getByLabel('Between two changes of server').fill('48')
    await button(page, 'Save').click()
    await toast(page, 'Saved')
    expect(await panel.admin('/settings/lists')).toMatchObject({
      routing_preset: 'off',
      xray_json_agents: ['happ', 'v2rayng'],
      node_change_hours: 48,
    })
    await close(page)
  })

  test('a provider is set up and offered; sales stop only after a question', async () => {
    const page = await panel.open({ hash: '#/settings/payments' })
    await button(page, 'Edit: YooKassa').click()
    await dialog(page).getByLabel('Shop id').fill('100500')
    await dialog(page).getByLabel('Secret key').fill('wrong_secret')
    await answer(page, 'Save')
    await dialog(page).getByText('provider credentials rejected').waitFor()
    await dialog(page).getByLabel('Secret key').fill('live_secret')
    await answer(page, 'Save')
    await toast(page, 'Saved')
    const offered = page.getByRole('switch', { name: 'YooKassa: offered to buyers' })
    await soon(() => offered.isChecked()).toBe(true)
    await offered.click()
    await soon(() => offered.isChecked()).toBe(false)
    const nobodyCanPay = page.getByText('Sales are on, but no payment method works.')
    await nobodyCanPay.waitFor()
    expect(await inspect(page, 'settings-payments-unpayable')).toEqual([])
    await visit(page, '/plans')
    await nobodyCanPay.waitFor()
    await visit(page, '/')
    await page.getByRole('link', { name: /Sales are on, but no payment method works/ }).click()
    await soon(() => page.url()).toContain('/settings/payments')
    expect(await panel.admin('/payments/provider-a-settings')).toEqual({
      enabled: false,
      shop_id: '100500',
      has_secret: true,
    })
    const sales = page.getByRole('switch', { name: 'Sales are on' })
    await soon(() => sales.isChecked()).toBe(true)
    await sales.click()
    await answer(page, 'Stop sales')
    await soon(() => panel.admin('/payments/plan-settings')).toMatchObject({
      payments_enabled: false,
    })
    await soon(() => sales.isChecked()).toBe(false)
    await nobodyCanPay.waitFor({ state: 'detached' })
    await close(page)
  })

  test('an app is added to the catalogue, which then goes back to the one of the service', async () => {
    const page = await panel.open({ hash: '#/settings/apps' })
    await button(page, 'Add an app').click()
    await dialog(page).getByLabel('Name').fill('Harbour app')
    const id = dialog(page).getByLabel('Id', { exact: true })
    await id.fill('x y')
    await dialog(page).getByLabel('Link that adds a subscription').fill('happ://add/{url}')
    const android = dialog(page).getByLabel('Android')
    await android.fill('Shop https://harbour.test\nSite harbour.test/app')
    await answer(page, 'Save')
    await dialog(page)
      .getByRole('alert')
      .getByText(/^must be 1 to 32 small letters/)
      .waitFor()
    await soon(() => id.evaluate((field) => field === document.activeElement)).toBe(true)
    await id.fill('harbour')
    await answer(page, 'Save')
    const fault = dialog(page).getByRole('alert')
    await fault.getByText('Site harbour.test/app: must be an https address').waitFor()
    await soon(() => android.evaluate((field) => field === document.activeElement)).toBe(true)
    await android.fill('Site https://harbour.test/app')
    await dialog(page).getByLabel('Sends the device id').uncheck()
    await answer(page, 'Save')
    await toast(page, 'Saved')
    await page.getByText('This list is your own.').waitFor()
    await button(page, 'Actions for Harbour app').click()
    await page.getByRole('menuitem', { name: 'Edit Harbour app' }).click()
    await dialog(page).getByLabel('Name').fill('Harbour app 2')
    await answer(page, 'Save')
    await page.getByText('Harbour app 2', { exact: true }).waitFor()
    expect(await panel.admin('/settings/apps')).toMatchObject({ changed: true })
    expect(JSON.stringify(await panel.admin('/settings/apps'))).toMatch(
      /Harbour app 2.*harbour.test\/app.*"device_id":false/,
    )
    await button(page, 'Back to the one that comes with the service').click()
    await answer(page, 'Give it up')
    await soon(() => page.getByText('Harbour app').count()).toBe(0)
    expect(await panel.admin('/settings/apps')).toMatchObject({ changed: false })
    await close(page)
  })

  test('a webhook gets a secret, shown once, and a test event', async () => {
    const page = await panel.open({ hash: '#/settings/webhook', runtime: 'bun' })
    await button(page, 'Make a secret').waitFor()
    await textbox(page, 'Address').fill(receiver.url)
    await page.getByRole('switch', { name: 'Admin added' }).click()
    await save(page)
    expect(await panel.admin('/settings/webhook')).toMatchObject({ events: ['admin.added'] })
    const secret = await textbox(page, 'Signing secret').inputValue()
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    expect(await inspect(page, 'settings-webhook-secret')).toEqual([])
    await button(page, 'Send a test').click()
    await toast(page, 'The receiver took the test event')
    expect(receiver.asked.map(({ headers }) => headers['x-event'])).toEqual(['webhook.test'])
    await button(page, 'Make another secret').click()
    await answer(page, 'Make another secret')
    await soon(() => textbox(page, 'Signing secret').inputValue()).not.toBe(secret)
    receiver.mood = 'a gateway error'
    await button(page, 'Send a test').click()
    await toast(page, /^The test event was not taken: /)
    await page.reload()
    await page.getByText('A secret is set. It is shown only when it is made.').waitFor()
    await close(page)
  })
})

describe('accounts', () => {
  test('an admin is added and deleted; oneself stays', async () => {
    const page = await panel.open({ hash: '#/admins', theme: 'dark' })
    await button(page, 'Add an admin').click()
    await dialog(page).getByLabel('User name').fill('helper')
    await dialog(page).getByLabel('Password', { exact: true }).fill('short')
    await answer(page, 'Add the admin')
    await dialog(page).getByText('must have at least 8 characters').waitFor()
    await dialog(page).getByLabel('Password', { exact: true }).fill('long enough 1')
    await answer(page, 'Add the admin')
    await toast(page, 'helper can log in')
    expect(await inspect(page, 'admins')).toEqual([])
    expect(await button(page, 'You cannot delete yourself').isDisabled()).toBe(true)
    await button(page, 'Delete helper').click()
    await answer(page, 'Delete')
    await toast(page, 'helper is deleted')
    await close(page)
  })

  test('two-factor login is set up by its code and switched off by the password', async () => {
    const page = await panel.open({ hash: '#/security' })
    await page.route('**/admin/api/qr', (route) =>
      route.fulfill({ status: 503, json: { error: 'too busy, try again' } }),
    )
    await button(page, 'Set up').click()
    await dialog(page).getByText('The QR code could not be drawn. Copy the text').waitFor()
    expect(await inspect(page, 'security-2fa-no-code')).toEqual([])
    await page.unroute('**/admin/api/qr')
    await button(page, 'Try again').click()
    const drawing = page.getByRole('img', { name: 'QR code for the authenticator app' })
    await drawing.waitFor()
    expect(await inspect(page, 'security-2fa')).toEqual([])
    const secret = await textbox(page, 'Or enter this secret by hand').inputValue()
    const uri = new URL(await scanned(drawing))
    expect(`${uri.protocol}//${uri.host}`).toBe('otpauth://totp')
    expect(uri.pathname).toMatch(/:admin$/)
    expect(Object.fromEntries(uri.searchParams)).toMatchObject({
      secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    })
    const code = generateTOTP(fromBase32(secret) as Uint8Array, 30, 6)
    await dialog(page).getByLabel('6-digit code').fill(code)
    await answer(page, 'Switch on')
    await toast(page, 'From now on a code is asked for')
    expect(await panel.admin('/2fa/status')).toMatchObject({ enabled: true })
    await answer(page, 'Cancel')
    await page.getByText('0 recovery codes are left').waitFor()
    await button(page, 'Switch off').click()
    await dialog(page).getByLabel('Current password').fill(PASSWORD)
    await answer(page, 'Switch off')
    await toast(page, 'Two-factor login is off')
    expect(await panel.admin('/2fa/status')).toMatchObject({ enabled: false })
    await close(page)
  })

  const logInFrom = (ip: string, password: string) =>
    panel.server.call('/admin/api/login', {
      body: { username: 'admin', password },
      headers: { 'x-real-ip': ip },
    })

  test('sessions are ended one by one and all at once; a new password ends others too', async () => {
    for (const n of [1, 2, 3]) await logInFrom(`203.0.113.${n}`, PASSWORD)
    const page = await panel.open({ hash: '#/security' })
    await button(page, 'End the session from 203.0.113.1').click()
    await toast(page, 'The session has ended')
    await soon(() => page.getByText('203.0.113.1').count()).toBe(0)
    await button(page, 'End all others').click()
    await answer(page, 'End all others')
    await toast(page, 'Only this session is left')
    await soon(() => page.getByText(/^203\.0\.113\./).count()).toBe(0)
    await textbox(page, 'Current password').fill('not this one')
    await textbox(page, 'New password').fill(NEXT_PASSWORD)
    await button(page, 'Change the password').click()
    await page.getByRole('alert').waitFor()
    expect(await inspect(page, 'security-refused')).toEqual([])
    await textbox(page, 'Current password').fill(PASSWORD)
    await button(page, 'Change the password').click()
    await toast(page, 'The password is changed, your other sessions have ended')
    expect((await logInFrom('203.0.113.4', PASSWORD)).status).toBe(401)
    expect((await logInFrom('203.0.113.5', NEXT_PASSWORD)).status).toBe(200)
    await close(page)
  })
})

test('the API is listed and searched', async () => {
  const page = await panel.open({ hash: '#/api' })
  await page.locator('.api-op').first().waitFor()
  await page.getByLabel('Find an operation').fill('gift-codes')
  await soon(() => page.locator('.api-op').count()).toBeLessThan(6)
  await page.locator('.api-op summary').first().click()
  expect(await inspect(page, 'api')).toEqual([])
  await close(page)
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
