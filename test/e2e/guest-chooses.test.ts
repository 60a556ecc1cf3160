/** Who came to buy one plan is offered that at its price, wherever it is sold, and never another in its place. */
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { visitSite } from '#test/support/browser/site-visit.ts'

const site = visitSite()

const plan = (code: string, price: number, group: string | null, stars: number | null = null) =>
  site.area.write(
    'insert into plans (code, label, days, price, price_stars, node_group, sort_order) values (?, ?, 30, ?, ?, ?, 9)',
    code,
    `Plan ${code}`,
    price,
    stars,
    group,
  )

beforeAll(() => {
  const { area } = site
  const settings = { GUEST_SALES: 'true', STARS_ENABLED: 'true', BOT_TOKEN: '1:x' }
  for (const [key, value] of Object.entries(settings)) {
    area.write('insert into settings (key, value) values (?, ?)', key, value)
  }
  for (const group of ['world', 'pair']) {
    area.write(
      "insert into node_groups (code, label, sort_order, created_at) values (?, ?, 1, '2026-01-01T00:00:00')",
      group,
      group,
    )
    for (const node of ['fra', 'ams']) {
      area.write('insert into node_group_nodes (group_code, node) values (?, ?)', group, node)
    }
  }
  plan('world', 300, 'world')
  plan('pair', 250, 'pair')
  plan('stars', 0, null, 50)
})

// An address may become so many guests an hour.
beforeEach(() => site.area.write('delete from login_attempts'))

/** What the form has chosen, and what its button says. */
async function formOf(page: Page) {
  await page.waitForSelector('#account:not([hidden])')
  const chosen = (name: string) => page.locator(`input[name="${name}"]:checked`)
  const pickedIn = async (name: string) =>
    (await chosen(name).count()) > 0 ? chosen(name).inputValue() : null
  return {
    place: await page.locator('#node').inputValue(),
    plan: await pickedIn('plans'),
    provider: await pickedIn('providers'),
    button: (await page.locator('#pay').innerText()).trim(),
  }
}

async function openAt(path: string) {
  const page = await site.open()
  await page.context().route('https://yoomoney.ru/**', (route) => route.fulfill({ body: 'paying' }))
  await page.goto(`${site.site}${path}`)
  return page
}

async function clickBuy(page: Page, label: string) {
  await page.goto(`${site.site}/`)
  await page.getByRole('link', { name: `Buy: ${label}`, exact: true }).click()
  return formOf(page)
}

/** Pays in the form as it is; what was ordered. */
async function pay(page: Page) {
  await page.locator('#pay').click()
  await page.waitForURL('https://yoomoney.ru/**')
  site.forgive('yoomoney.ru')
  return site.area
    .query('select plan, node_group, amount, tg_id from payments order by rowid desc limit 1')
    .at(0) as { plan: string; node_group: string | null; amount: number; tg_id: number }
}

const provider = 'provider_a'
const CHOSEN = {
  '30 days': { place: 'fra', plan: '1m', provider, button: 'Pay ₽199' },
  'Plan world': { place: '@world', plan: 'world', provider, button: 'Pay ₽300' },
  'Plan pair': { place: '@pair', plan: 'pair', provider, button: 'Pay ₽250' },
}

test.each(Object.entries(CHOSEN))('%s is bought as it was clicked', async (label, chosen) => {
  const page = await openAt('/')
  expect(await clickBuy(page, label)).toEqual(chosen)
  expect(await page.locator('#buy-fault').isVisible()).toBe(false)
  const ordered = await pay(page)
  expect(`Pay ₽${ordered.amount}`).toBe(chosen.button)
  expect(ordered).toMatchObject({ plan: chosen.plan })
})

test('another wish in the same tab is the one that counts', async () => {
  const page = await openAt('/cabinet.html#buy=pair')
  expect(await formOf(page)).toEqual(CHOSEN['Plan pair'])
  for (const label of ['30 days', 'Plan world'] as const) {
    expect(await clickBuy(page, label)).toEqual(CHOSEN[label])
  }
  await page.evaluate(() => {
    location.hash = '#buy=1m'
  })
  await page.locator('input[value="1m"]:checked').waitFor()
  expect(await formOf(page)).toEqual(CHOSEN['30 days'])
})

test('a plan that one way to pay alone sells is paid that way', async () => {
  const page = await openAt('/cabinet.html#buy=stars')
  expect(await formOf(page)).toMatchObject({ place: 'fra', plan: 'stars', provider: 'stars' })
  await page.locator(`input[value="${provider}"]`).check()
  expect(await formOf(page)).toMatchObject({ plan: null, button: 'Pay' })
})

test('an answer that fails loses no wish', async () => {
  const page = await site.open()
  let fails = true
  await page.route('**/api/cabinet/*/shop', (route) => (fails ? route.abort() : route.continue()))
  await page.goto(`${site.site}/cabinet.html#buy=1m`)
  await page.locator('#again').waitFor()
  fails = false
  site.forgive('/shop')
  await page.locator('#again').click()
  expect(await formOf(page)).toEqual(CHOSEN['30 days'])
})

describe('a plan that is not sold any more', () => {
  const gone = 'This plan is not for sale any more. Choose another one.'

  test('is said to be so, and nothing is chosen in its place', async () => {
    const page = await openAt('/cabinet.html#buy=gone')
    expect(await formOf(page)).toMatchObject({ plan: null, button: 'Pay' })
    expect(await page.locator('#buy-fault').innerText()).toBe(gone)
    expect(await page.locator('#pay').isDisabled()).toBe(true)
    await page.locator('#node').selectOption('ams')
    expect(await formOf(page)).toMatchObject({ plan: null, button: 'Pay' })
    await page.locator('input[value="1m"]').check()
    expect(await page.locator('#buy-fault').isVisible()).toBe(false)
    expect(await formOf(page)).toMatchObject({ place: 'ams', plan: '1m', button: 'Pay ₽199' })
    expect(await pay(page)).toMatchObject({ plan: '1m', amount: 199 })
  })

  test('is no word to who came without a wish', async () => {
    const page = await openAt('/cabinet.html#buy')
    expect(await formOf(page)).toEqual(CHOSEN['Plan pair'])
    expect(await page.locator('#buy-fault').isVisible()).toBe(false)
  })
})

test('who has another plan already buys the one clicked: by renewal where that takes it, else anew', async () => {
  const page = await openAt('/')
  await clickBuy(page, 'Plan world')
  const { tg_id: owner } = await pay(page)
  site.area.write(
    `insert into subscriptions (uuid, tg_id, node, plan, node_group, expires_at, source, created_at)
     values ('10000000-0000-4000-8000-000000000001', ?, 'fra', 'world', 'world', '2099-01-01T00:00:00', 'admin', '2026-01-01T00:00:00')`,
    owner,
  )
  expect(await clickBuy(page, 'Plan world')).toMatchObject({ plan: 'world', button: 'Pay ₽300' })
  expect(await page.locator('#renews').inputValue()).not.toBe('')
  expect(await clickBuy(page, '30 days')).toEqual(CHOSEN['30 days'])
  expect(await page.locator('#renews').inputValue()).toBe('')
  expect(await page.locator('#node-part').isVisible()).toBe(true)
  expect(await pay(page)).toMatchObject({ plan: '1m', amount: 199, node_group: null })
})
