import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  answer,
  button,
  choose,
  close,
  dialog,
  inspect,
  missingPairs,
  openPanel,
  type PanelBrowser,
  rows,
  screenshot,
  soon,
  toast,
  visit,
} from '#test/support/browser/panel-browser.ts'
import { tgIdOf } from '#test/support/browser/panel-seed.ts'
import { type FakeCryptobot, startFakeCryptobot } from '#test/support/fakes/cryptobot.ts'

const TOKEN = '12345:shop-token'
const BUYER = tgIdOf(4)

interface Payment {
  id: string
  status: string
  review_reason: string | null
  refunded_at: string | null
}

interface Gift {
  code: string
  used_at: string | null
  expires_at: string | null
}

let crypto: FakeCryptobot
beforeAll(async () => {
  crypto = await startFakeCryptobot([TOKEN])
})
afterAll(() => crypto.close())

const withCryptobot = () => ({
  CRYPTOBOT_API_URL: crypto.url,
  CRYPTOBOT_TOKEN: TOKEN,
  CRYPTOBOT_ENABLED: '1',
  PAYMENTS_ENABLED: '1',
})

describe('payments', () => {
  let panel: PanelBrowser
  beforeAll(async () => {
    panel = await openPanel({ env: withCryptobot() })
    panel.area.write(
      "update payments set review_reason = 'paid with another amount' where id = 'pay-2'",
    )
    panel.area.write(
      `insert into orphan_payments (provider, external_id, amount, currency, found_at)
       values ('cryptobot', 'IV-lost', '199.00', 'RUB', '2026-03-01T12:00:00')`,
    )
  })
  afterAll(() => panel.close())

  const paymentOf = async (id: string) =>
    ((await panel.admin('/payments?limit=1000')) as Payment[]).find((one) => one.id === id)

  test('are found and filtered by the service, and the address keeps it', async () => {
    const page = await panel.open({ hash: '#/payments' })
    await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor()
    await soon(() => rows(page).count()).toBeGreaterThan(50)
    expect(await inspect(page, 'payments-light')).toEqual([])
    const list = page.getByRole('region', { name: 'Payments', exact: true })
    await button(page, 'Not paid').click()
    await soon(() => page.url()).toContain('status=failed')
    await soon(() => list.locator('tbody tr').allTextContents()).toSatisfy(
      (all: string[]) => all.length > 0 && all.every((text) => text.includes('Not paid')),
    )
    await button(page, 'All').click()
    await page.getByLabel('Payment method').selectOption({ label: 'CryptoBot' })
    await soon(() => page.url()).toContain('provider=cryptobot')
    await soon(() => list.locator('tbody tr').allTextContents()).toSatisfy(
      (all: string[]) => all.length > 0 && all.every((text) => text.includes('CryptoBot')),
    )
    await visit(page, `/payments?tg_id=${BUYER}`)
    await soon(() => list.locator('tbody tr').count()).toBe(1)
    await button(page, /show all users/).click()
    await soon(() => list.locator('tbody tr').count()).toBe(50)
    await close(page)
  })

  test('are counted once by the overview, as what they wait for', async () => {
    const reason = (value: string) =>
      panel.area.write(`update payments set review_reason = ${value} where id = 'pay-1'`)
    reason("'paid as a test'")
    const page = await panel.open()
    await page.getByRole('link', { name: /^2 payments to review/ }).waitFor()
    await page.getByRole('link', { name: /^Money without a payment: 1/ }).waitFor()
    const waiting = page.getByText(/pending for over 15 minutes/)
    expect(await waiting.count()).toBe(0)
    reason('null')
    await page.reload()
    await page.getByRole('link', { name: /^1 payment to review/ }).waitFor()
    await waiting.waitFor()
    await close(page)
  })

  test('in review are kept, refunded or granted; money without a payment is marked', async () => {
    const page = await panel.open({ hash: '#/payments', theme: 'dark' })
    await button(page, 'Needs review').click()
    await soon(() => page.url()).toContain('review=1')
    const list = page.getByRole('region', { name: 'Payments', exact: true })
    await soon(() => list.locator('tbody tr').count()).toBe(1)
    await list.locator('tbody tr').first().click()
    await dialog(page).getByText('Needs a look: paid with another amount').waitFor()
    expect(await inspect(page, 'payment-card-dark')).toEqual([])
    await answer(page, 'Keep as granted')
    await page
      .getByRole('dialog', { name: /^Keep the payment of ₽990 from @d_volkov\?$/ })
      .waitFor()
    await answer(page, 'Keep as granted')
    await toast(page, 'The review is over')
    expect(await paymentOf('pay-2')).toMatchObject({ status: 'paid', review_reason: null })

    await answer(page, 'Mark refunded')
    await dialog(page).getByRole('switch', { name: 'Take back the access' }).check()
    await answer(page, 'Mark refunded')
    await toast(page, 'Marked as refunded')
    expect(await paymentOf('pay-2')).toMatchObject({ refunded_at: expect.any(String) })
    await page.keyboard.press('Escape')
    await button(page, 'All').click()

    const orphans = page.getByRole('region', { name: 'Money without a payment' })
    await orphans.getByText('IV-lost').waitFor()
    await orphans.getByText('₽199', { exact: true }).waitFor()
    await orphans.getByRole('button', { name: 'Dealt with' }).click()
    await page.getByRole('dialog', { name: 'Mark IV-lost as dealt with?' }).waitFor()
    await answer(page, 'Dealt with')
    await orphans.waitFor({ state: 'detached' })
    expect(await panel.admin('/payments/orphans')).toEqual([])
    await close(page)
  })

  test('that wait are asked about again, and granted by hand while the provider does not answer', async () => {
    const page = await panel.open({ hash: '#/payments?status=pending', width: 390, theme: 'dark' })
    await soon(() => rows(page).count()).toBe(1)
    await button(page, 'Re-check 1 payment').click()
    await toast(page, 'still pending: 0, no answer: 1')
    await rows(page)
      .getByRole('button', { name: /^Actions for/ })
      .click()
    await page.getByRole('menuitem', { name: 'Grant by hand' }).click()
    await dialog(page).getByText('whatever the provider says').waitFor()
    expect(await inspect(page, 'payment-grant')).toEqual([])
    await answer(page, 'Grant by hand')
    await toast(page, 'Granted')
    expect(await paymentOf('pay-1')).toMatchObject({ status: 'paid' })
    await page.getByText('Nothing found').waitFor()
    await close(page)
  })

  test('begin with a link for a user, which is paid and checked', async () => {
    const page = await panel.open({ hash: '#/payments' })
    await button(page, 'Payment link').click()
    await dialog(page).getByLabel('Telegram id').fill('abc')
    await choose(page, 'Node', 'Amsterdam')
    await choose(
      page,
      'Plan',
      ((await panel.admin('/plans')) as { label: string }[])[0]?.label ?? '',
    )
    await answer(page, 'Create')
    await dialog(page)
      .getByText(/^must be/)
      .waitFor()
    await dialog(page).getByLabel('Telegram id').fill(String(BUYER))
    await dialog(page).getByLabel('Renews').selectOption({ index: 1 })
    await dialog(page).getByLabel('Node').waitFor({ state: 'detached' })
    // What one user has is nothing that another could renew.
    await dialog(page).getByLabel('Telegram id').fill('1')
    await dialog(page).getByLabel('Node').waitFor()
    await dialog(page).getByLabel('Telegram id').fill(String(BUYER))
    await dialog(page).getByLabel('Renews').waitFor()
    expect(await dialog(page).getByLabel('Renews').inputValue()).toBe('')
    expect(await inspect(page, 'pay-link-form')).toEqual([])
    await answer(page, 'Create')
    await page.getByRole('dialog', { name: 'The link is ready' }).waitFor()
    const link = await dialog(page).getByRole('textbox', { name: 'Link to pay' }).inputValue()
    expect(link).toMatch(/^https:\/\/t\.me\//)
    await dialog(page).getByRole('img', { name: 'Link to pay' }).waitFor()
    expect(await inspect(page, 'pay-link-ready')).toEqual([])
    await answer(page, 'Done')

    const [invoice] = [...crypto.invoices.keys()]
    crypto.pay(invoice as number)
    const row = rows(page).filter({ hasText: 'Pending' }).first()
    await row.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Re-check' }).click()
    await toast(page, 'Paid: access is granted')
    const found = (await panel.admin(`/payments?tg_id=${BUYER}`)) as Payment[]
    expect(found[0]).toMatchObject({ status: 'paid' })
    await close(page)
  })

  test('are usable on a phone, in Russian', async () => {
    const page = await panel.open({ hash: '#/payments', width: 390, lang: 'ru' })
    await soon(() => rows(page).count()).toBe(50)
    await screenshot(page, 'payments-phone-ru-top', false)
    expect(await inspect(page, 'payments-phone-ru')).toEqual([])
    await rows(page).first().getByRole('button').first().click()
    await dialog(page).getByText('Номер платежа').waitFor()
    await screenshot(page, 'payment-card-phone-ru-top', false)
    expect(await inspect(page, 'payment-card-phone-ru')).toEqual([])
    await close(page)
    expect(panel.faults).toEqual([])
  })
})

describe('gift codes', () => {
  let panel: PanelBrowser
  beforeAll(async () => {
    panel = await openPanel({ runtime: 'bun', seed: { users: 12 } })
  })
  afterAll(() => panel.close())

  const gifts = (query = '') => panel.admin(`/gift-codes${query}`) as Promise<Gift[]>

  test('are made in a batch, copied, saved and revoked', async () => {
    const page = await panel.open({ hash: '#/gifts' })
    await page.getByText('No gift codes yet').waitFor()
    expect(await inspect(page, 'gifts-empty')).toEqual([])
    await button(page, 'Create codes').first().click()
    await answer(page, 'Create codes')
    await dialog(page)
      .getByText(/unknown node|must/)
      .waitFor()
    await choose(page, 'Node', 'Helsinki')
    await choose(
      page,
      'Plan',
      ((await panel.admin('/plans')) as { label: string }[])[0]?.label ?? '',
    )
    await page.getByLabel('How many').fill('2000')
    await answer(page, 'Create codes')
    await dialog(page).getByText('must be a whole number').waitFor()
    await page.getByLabel('How many').fill('5')
    await page.getByLabel('Valid for').fill('30')
    expect(await inspect(page, 'gifts-form')).toEqual([])
    await answer(page, 'Create codes')
    await page.getByRole('dialog', { name: '5 codes created' }).waitFor()
    const made = await gifts()
    expect(made).toHaveLength(5)
    expect(made.every((gift) => gift.expires_at !== null)).toBe(true)
    expect(await inspect(page, 'gifts-created')).toEqual([])
    await answer(page, /^Copy 5 codes$/)
    const copied = (await page.evaluate(() => navigator.clipboard.readText())).split('\n')
    expect(copied.toSorted()).toEqual(made.map((gift) => gift.code).toSorted())
    const one = made[0] as Gift
    await answer(page, `Copy the code ${one.code}`)
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(one.code)
    const [file] = await Promise.all([page.waitForEvent('download'), answer(page, 'CSV')])
    expect(
      readFileSync(await file.path(), 'utf8')
        .trim()
        .split('\r\n'),
    ).toHaveLength(6)
    await answer(page, 'Done')

    await soon(() => rows(page).count()).toBe(5)
    await button(page, `Revoke ${one.code}`).click()
    await page.getByRole('dialog', { name: `Revoke the gift code ${one.code}?` }).waitFor()
    await answer(page, 'Revoke')
    await toast(page, '1 code revoked')
    await soon(() => rows(page).count()).toBe(4)
    await page.getByRole('checkbox', { name: `Select ${made[1]?.code}` }).check()
    await page.getByRole('checkbox', { name: `Select ${made[2]?.code}` }).check()
    await page.locator('.bulk').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog', { name: 'Revoke 2 codes?' }).waitFor()
    await answer(page, 'Revoke')
    await toast(page, '2 codes revoked')
    await button(page, 'Revoked').click()
    await soon(() => rows(page).count()).toBe(3)
    await button(page, 'Unused').click()
    await soon(() => rows(page).count()).toBe(2)
    expect(await gifts('?status=unused')).toHaveLength(2)
    const [saved] = await Promise.all([page.waitForEvent('download'), button(page, 'CSV').click()])
    expect(
      readFileSync(await saved.path(), 'utf8')
        .trim()
        .split('\r\n'),
    ).toHaveLength(3)
    expect(await inspect(page, 'gifts')).toEqual([])
    await close(page)
  })

  test('are usable on a phone, in Russian and in the dark; users are found there too', async () => {
    const page = await panel.open({ hash: '#/gifts', width: 390, lang: 'ru', theme: 'dark' })
    await soon(() => rows(page).count()).toBe(2)
    expect(await inspect(page, 'gifts-phone-ru-dark')).toEqual([])
    await visit(page, `/users?user=${tgIdOf(1)}`)
    await page.getByRole('dialog', { name: '@kirill_m' }).getByText('Устройства').first().waitFor()
    await close(page)
    const desk = await panel.open({ hash: '#/gifts', lang: 'ru' })
    await soon(() => rows(desk).count()).toBe(2)
    expect(await inspect(desk, 'gifts-ru')).toEqual([])
    await close(desk)
    expect(panel.faults).toEqual([])
  })
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
