import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PANEL_FOLDER } from '#src/integrations/browser-build.ts'
import { PANEL_LANGS, readPanel } from '#src/web/panel-files.ts'
import {
  close,
  heading,
  inspect,
  missingPairs,
  openPanel,
  type PanelBrowser,
  soon,
  toast,
  visit,
} from '#test/support/browser/panel-browser.ts'
import { KEYS, yookassaEnvironment } from '#test/support/drivers/shop-process.ts'
import { type FakeYookassa, startFakeYookassa } from '#test/support/fakes/yookassa.ts'

let panel: PanelBrowser
let yookassa: FakeYookassa
beforeAll(async () => {
  yookassa = await startFakeYookassa(KEYS)
  panel = await openPanel({ env: yookassaEnvironment(yookassa.url) })
})
afterAll(async () => {
  await panel.close()
  await yookassa.close()
})

const VIEWS = [
  { runtime: 'node', width: 1440, theme: 'light', lang: 'en' },
  { runtime: 'node', width: 1440, theme: 'dark', lang: 'ru' },
  { runtime: 'bun', width: 390, theme: 'light', lang: 'ru' },
  { runtime: 'bun', width: 390, theme: 'dark', lang: 'en' },
] as const

test.each(VIEWS)(
  'the overview is whole and open to all at $width px, $theme, $lang, on $runtime',
  async (view) => {
    const page = await panel.open(view)
    await page.locator('.u-over').waitFor()
    await page.locator('.node-list li').nth(3).waitFor()
    await page.locator('.donut li').first().waitFor()
    await page.locator('.latest tbody tr').nth(5).waitFor()
    expect(await inspect(page, `overview-${view.width}-${view.theme}-${view.lang}`)).toEqual([])
    expect(panel.faults).toEqual([])
    await close(page)
  },
)

test('what waits for somebody can be dealt with from the overview', async () => {
  const page = await panel.open({ runtime: 'bun' })
  const amount = { value: '549.00', currency: 'RUB' }
  yookassa.payments.set('ext-1', {
    id: 'ext-1',
    status: 'pending',
    paid: false,
    amount,
    created_at: new Date().toISOString(),
    metadata: { payment_id: 'pay-1' },
    recipient: { account_id: '100500', gateway_id: '100700' },
    refundable: false,
    test: false,
  })
  const pending = page.getByRole('button', { name: /1 payment pending for over 15 minutes/ })
  await pending.click()
  await toast(page, '1 checked, 0 of them paid')
  yookassa.pay('ext-1')
  await pending.click()
  await toast(page, '1 checked, 1 of them paid')
  const asked = yookassa.asked.filter(({ path }) => path.endsWith('/payments/ext-1'))
  expect(asked.length).toBeGreaterThanOrEqual(2)
  expect(panel.area.query("select status from payments where id = 'pay-1'")).toEqual([
    { status: 'paid' },
  ])
  await pending.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: /subscriptions end within 3 days/ }).click()
  expect(new URL(page.url()).hash).toMatch(/^#\/subscriptions\?status=active&ends=3&/)
  await close(page)
})

test('a node of the former node program is listed until its install command was run again', async () => {
  const [node] = panel.area.query<{ code: string; label: string }>(
    "select code, label from nodes where kind = 'external' limit 1",
  )
  if (!node) throw new Error('no external node')
  const { code, label } = node
  const become = (fields: string) =>
    panel.area.write(`update nodes set ${fields} where code = ?`, code)
  // Nobody is there: a node that is not set up is not called.
  become("kind = 'managed', status = 'pending', last_seen_at = null, program = 1")
  const page = await panel.open()
  const item = page.getByRole('link', { name: `${label} runs a former node program` })
  await item.waitFor()
  expect(await inspect(page, 'overview-outdated')).toEqual([])
  await item.click()
  await page.waitForURL(`**#/nodes/setup/${code}`)
  await visit(page, `/nodes?node=${code}`)
  await page.getByText(/^It runs a former node program, by which/).waitFor()
  expect(await inspect(page, 'node-card-outdated')).toEqual([])
  await close(page)
  become("kind = 'external', status = 'active', program = 2")
  const later = await panel.open()
  await later.locator('.node-list li').first().waitFor()
  expect(await later.getByText('runs a former node program').count()).toBe(0)
  await close(later)
})

/** Active subscriptions of the database by the day, UTC as the panel's, on which they end. */
const endingsByDay = () =>
  new Map(
    panel.area
      .query<{ day: string; n: number }>(
        `select substr(expires_at, 1, 10) day, count(*) n from subscriptions
         where active = 1 and held_at is null and expires_at > strftime('%Y-%m-%dT%H:%M:%S', 'now')
         group by day`,
      )
      .map(({ day, n }) => [day, n]),
  )

test('ends of the next 14 days are counted, drawn and told by day', async () => {
  const page = await panel.open()
  const block = page.locator('.endings')
  await block.waitFor()
  const found = endingsByDay()
  const counts = Array.from({ length: 14 }, (_, at) => {
    const day = new Date(Date.now() + at * 86_400_000).toISOString().slice(0, 10)
    return found.get(day) ?? 0
  })
  const all = counts.reduce((sum, count) => sum + count, 0)
  expect(all).toBeGreaterThan(10)
  expect(new Set(counts).size).toBeGreaterThan(1)
  expect(await block.locator('b').textContent()).toBe(String(all))
  expect((await block.locator('tbody td').allTextContents()).map(Number)).toEqual(counts)
  const bars = await block
    .locator('rect')
    .evaluateAll((rects) =>
      rects.map((rect) => [
        Number(rect.getAttribute('height')),
        Number(rect.getAttribute('y')) + Number(rect.getAttribute('height')),
        rect.getAttribute('class'),
      ]),
    )
  const most = Math.max(...counts)
  expect(bars).toEqual(
    counts.map((count, at) => [
      expect.closeTo(Math.max(2, (count / most) * 52)),
      expect.closeTo(52),
      at < 3 ? 'near' : null,
    ]),
  )
  await close(page)
})

test.each([
  {
    route: '/',
    title: 'Overview',
    asked: '**/admin/api/stats/active',
    place: '[aria-label="Active by plan"]',
    shown: '.donut li',
  },
  {
    route: '/users',
    title: 'Users',
    asked: '**/admin/api/users?*',
    place: 'main',
    shown: 'tbody tr',
  },
])(
  'what is on its way at $route is told by grey lines',
  async ({ route, title, asked, place, shown }) => {
    const page = await panel.open({ hash: '#/api' })
    await page.locator('.api-op').first().waitFor()
    const held = Promise.withResolvers<void>()
    await page.route(asked, async (one) => {
      await held.promise
      await one.continue()
    })
    await visit(page, route)
    // Before that the screen itself is on its way.
    await heading(page, title)
    const told = page.locator(place).getByRole('status', { name: 'Loading' })
    await told.locator('.skel').first().waitFor()
    expect(await page.locator(shown).count()).toBe(0)
    held.resolve()
    await page.locator(shown).first().waitFor()
    expect(await told.count()).toBe(0)
    await close(page)
  },
)

test('the chart of traffic says which line is which', async () => {
  const page = await panel.open({ hash: '#/traffic' })
  const legend = page.locator('.time-chart .legend li')
  await legend.first().waitFor()
  expect(await legend.allTextContents()).toEqual(['Downloaded', 'Uploaded'])
  const colors = await legend.evaluateAll((all) =>
    all.map((one) => {
      const { backgroundColor, borderTopColor, borderTopStyle } = getComputedStyle(one, '::before')
      return `${backgroundColor} ${borderTopStyle} ${borderTopColor}`
    }),
  )
  expect(new Set(colors).size).toBe(2)
  await close(page)
})

test('the numbers and the chart follow the period, which the address keeps', async () => {
  const page = await panel.open()
  const revenue = page.locator('.kpi', { hasText: 'Revenue' }).locator('.kpi-value')
  const month = await revenue.textContent()
  await page.getByRole('button', { name: '7 days' }).click()
  await soon(() => revenue.textContent()).not.toBe(month)
  expect(new URL(page.url()).hash).toBe('#/?days=7')
  await soon(() => page.locator('.time-chart tbody tr').count()).toBe(7)
  expect(await page.locator('.time-chart .uplot').count()).toBe(1)
  await page.reload()
  await soon(() => page.locator('.time-chart tbody tr').count()).toBe(7)
  expect(panel.faults).toEqual([])
  await close(page)
})

test('an overview that cannot be read says so, and reads again when asked', async () => {
  const page = await panel.open({ width: 390 })
  await page.locator('.donut li').first().waitFor()
  await page.route('**/admin/api/stats/active', (route) =>
    route.fulfill({ status: 503, json: { error: 'the database is busy, try again' } }),
  )
  await page.reload()
  await page.getByText('the database is busy, try again').waitFor()
  expect(await inspect(page, 'overview-failed')).toEqual([])
  await page.unroute('**/admin/api/stats/active')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.locator('.donut li').first().waitFor()
  await close(page)
})

test('a part of the panel that is gone is told of, and found by these tests', async () => {
  const page = await panel.open()
  await page.locator('.donut li').first().waitFor()
  await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404 }))
  await visit(page, '/settings')
  await page.getByText('This screen could not be loaded').waitFor()
  const gone = panel.faults.splice(0)
  expect(gone.length).toBeGreaterThan(0)
  expect(gone).toSatisfy((all: string[]) => all.every((one) => /^404 .*\.js$/.test(one)))
  await close(page)
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})

const KB = 1024

test.each(PANEL_LANGS)(
  'the panel in %s weighs at most 30 KB at its start and 160 KB in all',
  (lang) => {
    const sizeOf = (name: string) => statSync(join(PANEL_FOLDER, 'assets', `${name}.gz`)).size
    const sum = (names: string[]) => names.reduce((total, name) => total + sizeOf(name), 0)
    const entry = readPanel(PANEL_FOLDER)?.entries[lang]
    const start = sum([entry?.script ?? '', ...(entry?.preloads ?? [])])
    // All that a browser can ever load in this language, charts too.
    const all = sum(entry?.scripts ?? [])
    console.log(`panel in ${lang}: ${(start / KB).toFixed(1)} KB, all ${(all / KB).toFixed(1)} KB`)
    expect(start).toBeLessThanOrEqual(30 * KB)
    expect(all).toBeLessThanOrEqual(160 * KB)
    expect(all).toBeGreaterThan(60 * KB)
  },
)
