/** Traffic bought on the customer's page, for a subscription that has a quota. */
import { expect, test } from 'vitest'
import { tokenOf } from '#test/support/browser/public-site.ts'
import { visitSite } from '#test/support/browser/site-visit.ts'

const site = visitSite()

test('is offered beside the plans of that subscription alone, and ordered as traffic', async () => {
  site.area.write(
    "insert into traffic_packs (code, label, gb, price, price_stars, sort_order) values ('50gb', '50 GB', 50, 99, null, 1)",
  )
  site.area.write(
    "update subscriptions set quota_bytes = 100, used_bytes = 100, limited_at = created_at where tg_id = 2 and node = 'ams'",
  )
  const page = await site.open()
  await page.context().route('https://yoomoney.ru/**', (route) => route.fulfill({ body: 'paying' }))
  await page.goto(`${site.site}/cabinet.html#${tokenOf('many')}`)
  const pack = page.getByRole('radio', { name: 'Traffic: 50 GB' })
  const others = page.locator('#renews option', { hasNotText: 'Amsterdam' })
  await page.locator('#renews').selectOption((await others.first().getAttribute('value')) as string)
  expect(await pack.count()).toBe(0)
  await page.locator('#renews').selectOption({ label: 'Renew Amsterdam, 30 days' })
  await pack.check()
  await page.getByRole('button', { name: 'Pay ₽99', exact: true }).click()
  await page.waitForURL('https://yoomoney.ru/**')
  const made = site.area.query('select kind, pack, amount, tg_id, extra_bytes from payments')
  expect(made).toEqual([
    { kind: 'traffic', pack: '50gb', amount: 99, tg_id: 2, extra_bytes: 50 * 1024 ** 3 },
  ])
  site.forgive('yoomoney.ru')
})
