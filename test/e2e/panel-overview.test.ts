import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PANEL_FOLDER } from '#src/integrations/panel-build.ts'
import { PANEL_LANGS, readPanel } from '#src/web/panel-files.ts'
import {
  close,
  inspect,
  missingPairs,
  openPanel,
  type PanelBrowser,
  soon,
  visit,
} from '#test/support/panel-browser.ts'

let panel: PanelBrowser
beforeAll(async () => {
  panel = await openPanel()
})
afterAll(async () => {
  await panel.close()
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
  await page.getByRole('button', { name: /1 payment pending for over 15 minutes/ }).click()
  await page.locator('.toast').waitFor()
  await page.getByRole('link', { name: /subscriptions end within 3 days/ }).click()
  expect(new URL(page.url()).hash).toMatch(/^#\/subscriptions\?status=active&ends=3&/)
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
  'the panel in %s weighs at most 30 KB at its start and 110 KB in all',
  (lang) => {
    const sizeOf = (name: string) => statSync(join(PANEL_FOLDER, 'assets', `${name}.gz`)).size
    const sum = (names: string[]) => names.reduce((total, name) => total + sizeOf(name), 0)
    const entry = readPanel(PANEL_FOLDER)?.entries[lang]
    const start = sum([entry?.script ?? '', ...(entry?.preloads ?? [])])
    // All that a browser can ever load in this language, charts too.
    const all = sum(entry?.scripts ?? [])
    console.log(`panel in ${lang}: ${(start / KB).toFixed(1)} KB, all ${(all / KB).toFixed(1)} KB`)
    expect(start).toBeLessThanOrEqual(30 * KB)
    expect(all).toBeLessThanOrEqual(110 * KB)
    expect(all).toBeGreaterThan(60 * KB)
  },
)
