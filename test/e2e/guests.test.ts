/** Who comes to the site, knows nobody and buys: by a link that they get before they pay, and find again after it. */
import { beforeAll, expect, test } from 'vitest'
import { axeFindings, screenshot } from '#test/support/browser/panel-browser.ts'
import { visitSite } from '#test/support/browser/site-visit.ts'
import { decode, drawn } from '#test/support/qr-decoder.ts'

const site = visitSite()
beforeAll(() => {
  site.area.write("insert into settings (key, value) values ('GUEST_SALES', 'true')")
})

/** Buys a plan from the landing page; the address that the gateway sends the buyer back to, and their link. */
async function buy(plan: string) {
  const page = await site.open()
  await page.route('https://yoomoney.ru/**', (route) => route.fulfill({ body: 'paying' }))
  await page.goto(`${site.site}/`)
  await page.getByRole('link', { name: `Buy: ${plan}` }).click()
  await page.waitForSelector('#account:not([hidden])')
  expect(await page.locator('#plans label', { hasText: plan }).locator('input').isChecked()).toBe(
    true,
  )
  const link = await page.locator('#sub-link').innerText()
  expect(link).toMatch(new RegExp(`^${site.sub}/sub/[\\w-]{43}$`))
  expect(await page.locator('#guest-note').isVisible()).toBe(true)
  const topOf = async (part: string) => (await page.locator(part).boundingBox())?.y ?? Number.NaN
  expect(await topOf('#guest-note')).toBeLessThan(await topOf('#pay'))
  expect(await page.locator('#open-link').isVisible()).toBe(false)
  expect(await axeFindings(page)).toEqual([])
  await screenshot(page, 'public/guest-buys')
  await page.locator('#pay').click()
  await page.waitForURL('https://yoomoney.ru/**')
  site.forgive('yoomoney.ru')
  const payment = [...site.gateway.payments.values()].at(-1)
  return { page, link, payment, back: payment?.confirmation?.return_url ?? '' }
}

const STILL_TO_COME = /As soon as the payment is confirmed/

const told = (event: string, id: string) =>
  site.server.call('/payments/webhook/provider_a', { body: site.gateway.notice(event, id) })

test('has the link in front of them before and after paying, in another browser too', async () => {
  const { link, payment, back } = await buy('90 days')
  const other = await site.open()
  // Some gateways write their own words behind the address.
  await other.goto(`${back}?status=succeeded`)
  await other.getByText('Waiting for the payment').waitFor()
  expect(await other.getByText(STILL_TO_COME).isVisible()).toBe(true)
  expect(await other.locator('#paid-link').isVisible()).toBe(false)
  const { id = '' } = payment ?? {}
  site.gateway.pay(id)
  await told('payment.succeeded', id)
  await other.getByText('This is your personal link').waitFor()
  expect(await other.getByText(STILL_TO_COME).isVisible()).toBe(false)
  expect(await other.locator('#sub-link').innerText()).toBe(link)
  const size = Number((await other.locator('#qr').getAttribute('viewBox'))?.split(' ').at(-1))
  const path = (await other.locator('#qr path').getAttribute('d')) ?? ''
  expect(decode(drawn(size, path))).toBe(link)
  const connect = other.getByRole('link', { name: 'Connect Telegram' })
  expect(await connect.getAttribute('href')).toBe(`${link}/telegram`)
  // It would know them as somebody else.
  expect(await other.getByRole('link', { name: 'Return to the bot' }).isVisible()).toBe(false)
  expect(await axeFindings(other)).toEqual([])
  await screenshot(other, 'public/guest-paid')
  await other.getByRole('link', { name: 'Connect a device' }).click()
  await other.getByText('Subscription active').waitFor()
})

test('who comes back in the same tab is the same customer', async () => {
  const { page, link } = await buy('30 days')
  await page.goto(`${site.site}/cabinet.html#buy=1m`)
  await page.waitForSelector('#account:not([hidden])')
  expect(await page.locator('#sub-link').innerText()).toBe(link)
})

test('a payment that fails is said to have failed', async () => {
  const { page, payment, back } = await buy('30 days')
  const { id = '' } = payment ?? {}
  site.gateway.cancel(id)
  await told('payment.canceled', id)
  await page.goto(back)
  await page.getByText('The payment did not go through').waitFor()
  expect(await page.getByText(STILL_TO_COME).isVisible()).toBe(false)
})

test('a way back without a key says what it always said', async () => {
  const page = await site.open()
  await page.goto(`${site.site}/pay/done`)
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  expect(await page.locator('#paid').isVisible()).toBe(false)
})
