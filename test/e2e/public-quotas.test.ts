/** What customers see of limits of traffic: on the landing page, the page of their link, and in their account. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { findingsOf, tokenOf, type View } from '#test/support/browser/public-site.ts'
import { visitSite } from '#test/support/browser/site-visit.ts'

const GB = 1024 ** 3
const DAY_MS = 86_400_000

const site = visitSite()
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 19)

beforeAll(() => {
  const { area } = site
  area.write("update plans set quota_gb = 100, quota_period = 'month' where code = '1m'")
  area.write(
    "update plans set quota_gb = 300, quota_period = 'rolling', hwid_limit = 10 where code = '3m'",
  )
  const use = (node: string, row: Record<string, string | number | null>) =>
    area.write(
      `update subscriptions set quota_bytes = ${100 * GB}, quota_period = 'month', used_bytes = ?, resets_at = ?, limited_at = ?
       where tg_id = ? and node = ? and held_at is null`,
      row.used ?? 0,
      row.resets ?? null,
      row.limited ?? null,
      row.owner ?? 2,
      node,
    )
  use('fra', { used: 12.5 * GB, resets: inDays(9) })
  use('ams', { used: 100 * GB, limited: inDays(-1), resets: inDays(9) })
  use('fra', { owner: 1, used: 101 * GB, limited: inDays(-1), resets: inDays(9) })
})

/** The words of a row, with spaces as they are typed. */
const wordsOf = async (page: Page, name: string) => {
  const rows = page.locator('.rows > li').filter({ hasText: name })
  return (await rows.first().innerText()).replace(/\s+/g, ' ')
}

const VIEWS: View[] = [
  { javaScript: true, width: 390, theme: 'light', lang: 'en' },
  { javaScript: true, width: 390, theme: 'dark', lang: 'ru' },
  { javaScript: true, width: 1440, theme: 'dark', lang: 'en' },
  { javaScript: true, width: 1440, theme: 'light', lang: 'ru' },
]
const nameOf = ({ width, theme, lang }: View) => `${width}-${theme}-${lang}`

test.each(VIEWS)('the pages are sound at $width px, $theme, $lang', async (view) => {
  const page = await site.open(view)
  await page.goto(`${site.site}/`)
  const plan = view.lang === 'en' ? /^300 GB a month$/ : /^300 ГБ в месяц$/
  await page.getByText(plan).waitFor()
  expect(await findingsOf(page, `public/quota-landing-${nameOf(view)}`)).toEqual([])

  await page.goto(site.link('many'))
  const isEnglish = view.lang === 'en'
  expect(await wordsOf(page, 'Frankfurt')).toContain(
    isEnglish ? 'Traffic: 12.5 of 100 GB, until' : 'Трафик: 12,5 из 100 ГБ, до',
  )
  expect(await wordsOf(page, 'Amsterdam')).toMatch(
    isEnglish ? /100 of 100 GB, comes back/ : /100 из 100 ГБ, вернётся/,
  )
  expect(await page.locator('.pill.bad').allInnerTexts()).toEqual([
    isEnglish ? 'traffic used up' : 'трафик израсходован',
  ])
  expect(await page.locator('meter').count()).toBe(2)
  expect(await findingsOf(page, `public/quota-sub-${nameOf(view)}`)).toEqual([])
  await page.goto(site.link('one'))
  await page
    .getByRole('heading', { level: 1, name: isEnglish ? 'Traffic used up' : 'Трафик израсходован' })
    .waitFor()
  expect(await findingsOf(page, `public/quota-gone-${nameOf(view)}`)).toEqual([])

  await page.goto(`${site.site}/cabinet.html#${tokenOf('many')}`)
  await page.waitForSelector('#account:not([hidden])')
  expect(await wordsOf(page, 'Frankfurt')).toContain(
    isEnglish ? 'Traffic: 12.5 of 100 GB, until' : 'Трафик: 12,5 из 100 ГБ, до',
  )
  expect(await wordsOf(page, 'Amsterdam')).toMatch(
    isEnglish ? /100 of 100 GB, comes back/ : /100 из 100 ГБ, вернётся/,
  )
  expect(await wordsOf(page, 'New York')).not.toMatch(/GB|ГБ/)
  await page
    .getByText(isEnglish ? '90 days · 300 GB a month' : '90 days · 300 ГБ в месяц')
    .waitFor()
  expect(await findingsOf(page, `public/quota-account-${nameOf(view)}`)).toEqual([])
})

test('the account of one whose traffic is used up keeps its link', async () => {
  const page = await site.open()
  await page.goto(`${site.site}/cabinet.html#${tokenOf('one')}`)
  await page.getByText('traffic used up').waitFor()
  expect(await page.locator('meter.bad:visible').count()).toBe(1)
  await page.getByRole('link', { name: 'How to connect' }).waitFor()
})
