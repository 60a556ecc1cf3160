/** Another server and another plan on the customer's page: said before it is done, and done once. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import {
  BUYERS,
  type Buyer,
  findingsOf,
  tokenOf,
  type View,
} from '#test/support/browser/public-site.ts'
import { visitSite } from '#test/support/browser/site-visit.ts'

const site = visitSite()

beforeAll(() => {
  // 10 a day, and 20 for who may have 7 devices.
  site.area.write("update plans set label = 'Basic', price = 300 where code = '1m'")
  site.area.write(
    "update plans set label = 'Many devices', price = 1800, hwid_limit = 7 where code = '3m'",
  )
})

interface Row {
  node: string
  plan: string
  expires_at: string
}
const rowsOf = (buyer: Buyer) =>
  site.area.query<Row>(
    `select node, plan, expires_at from subscriptions where tg_id = ${BUYERS[buyer]} order by seq`,
  )

async function openAccount(buyer: Buyer, view: Partial<View> = {}): Promise<Page> {
  const page = await site.open(view)
  await page.goto(`${site.site}/cabinet.html#${tokenOf(buyer)}`)
  await page.waitForSelector('#account:not([hidden])')
  return page
}

test('another server is chosen, and the page says where the subscription is then', async () => {
  const page = await openAccount('one')
  await page.getByRole('button', { name: 'Change Frankfurt' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change Frankfurt' })
  const act = dialog.getByRole('button', { name: 'Change', exact: true })
  expect(await act.isDisabled()).toBe(true)
  await dialog.getByRole('radio', { name: 'Server: Amsterdam' }).check()
  await dialog.getByText('The change is free.').waitFor()
  expect(await findingsOf(page, 'public/change-server')).toEqual([])
  await act.click()
  await page.getByText('Changed. Refresh the list in your apps').waitFor()
  expect(rowsOf('one')).toMatchObject([{ node: 'ams', plan: '3m' }])
  // Not again on the same day; its plan can be changed.
  await page.getByRole('button', { name: 'Change Amsterdam' }).click()
  const again = page.getByRole('dialog', { name: 'Change Amsterdam' })
  await again.getByText('Server: changed not long ago, again in 24 h.').waitFor()
  expect(await again.getByRole('radio', { name: 'Server: Frankfurt' }).count()).toBe(0)
  await again.getByRole('button', { name: 'Cancel' }).click()
  expect(rowsOf('one')).toMatchObject([{ node: 'ams', plan: '3m' }])
})

test('days of another plan are said before they are taken', async () => {
  const page = await openAccount('one', { width: 1440, theme: 'dark', lang: 'ru' })
  await page.getByRole('button', { name: /^Сменить: / }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio', { name: 'Тариф: Basic' }).check()
  await dialog.getByText('23 дня тарифа «Many devices» → 45 дней тарифа «Basic» до ').waitFor()
  expect(await findingsOf(page, 'public/change-plan')).toEqual([])
  await dialog.getByRole('button', { name: 'Сменить', exact: true }).click()
  await page.getByText('Готово. Обновите список').waitFor()
  const [row] = rowsOf('one')
  expect(row?.plan).toBe('1m')
  const days = (Date.parse(`${row?.expires_at}Z`) - Date.now()) / 86_400_000
  expect(days).toBeGreaterThan(44.9)
  expect(days).toBeLessThanOrEqual(45)
  await page.getByRole('button', { name: /^Сменить: / }).click()
  await dialog.getByText('Тариф: меняли недавно, снова можно через 24 ч.').waitFor()
})

test('what is refused by then is said, and changes nothing', async () => {
  const before = rowsOf('many')
  const page = await openAccount('many')
  await page.getByRole('button', { name: 'Change Amsterdam' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio', { name: 'Server: Frankfurt' }).check()
  // Less than a day of it would be left.
  expect(await dialog.getByRole('radio', { name: 'Plan: Many devices' }).count()).toBe(0)
  site.area.write("update nodes set enabled = 0 where code = 'fra'")
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByText('Nothing was changed: the offer is another one by now.').waitFor()
  site.area.write("update nodes set enabled = 1 where code = 'fra'")
  expect(rowsOf('many')).toEqual(before)
  site.forgive('400')
})

test('other days than were said are not taken', async () => {
  const before = rowsOf('many')
  site.area.write("update plans set price = 100 where code = '3m'")
  const page = await openAccount('many')
  await page.getByRole('button', { name: 'Change Amsterdam' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio', { name: 'Plan: Many devices' }).check()
  site.area.write("update plans set price = 200 where code = '3m'")
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByText('Nothing was changed: the offer is another one by now.').waitFor()
  site.area.write("update plans set price = 1800 where code = '3m'")
  expect(rowsOf('many')).toEqual(before)
  site.forgive('400')
})

test('what is done is said to be, also where the account can not be read after it', async () => {
  const page = await openAccount('many')
  await page.getByRole('button', { name: 'Change Amsterdam' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio', { name: 'Server: Frankfurt' }).check()
  await page.route('**/shop', (route) => route.fulfill({ status: 503, body: '{}' }))
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByText('Changed. Refresh the list in your apps').waitFor()
  expect(rowsOf('many')).toContainEqual(expect.objectContaining({ node: 'fra' }))
  site.forgive('503')
})

test('what is paused or ended has no button, nor has anything where nothing can be changed', async () => {
  for (const buyer of ['paused', 'ended'] as const) {
    const page = await openAccount(buyer)
    expect(await page.getByRole('button', { name: /^Change/ }).count()).toBe(0)
  }
  await site.server.admin('/settings/lists', { node_change_hours: 0 })
  site.area.write("update plans set hwid_limit = null where code = '3m'")
  const page = await openAccount('many')
  expect(await page.getByRole('button', { name: /^Change/ }).count()).toBe(0)
})
