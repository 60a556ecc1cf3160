/** Traffic quotas in the panel: sold with a plan, counted by node, shown and changed for one subscription. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  act,
  answer,
  button,
  choose,
  close,
  dialog,
  field,
  inspect,
  missingPairs,
  openPanel,
  type Page,
  type PanelBrowser,
  rows,
  soon,
  toast,
  visit,
} from '#test/support/browser/panel-browser.ts'
import { tgIdOf, uuidOf } from '#test/support/browser/panel-seed.ts'

const GB = 1024 ** 3
const DAY_MS = 86_400_000

interface Quota {
  quota_bytes?: number
  quota_period?: string
  used_bytes?: number
  extra_bytes?: number
  resets_at?: string | null
  limited_at?: string | null
}

let panel: PanelBrowser
beforeAll(async () => {
  panel = await openPanel({ seed: { users: 12, troubles: 1 } })
})
afterAll(() => panel.close())

const plans = () => panel.admin('/plans') as Promise<{ code: string }[]>
const planOf = async (code: string) => (await plans()).find((plan) => plan.code === code)
const quotaOf = async (n: number) => {
  const [found] = (await panel.admin(`/subscriptions?q=${uuidOf(n)}`)) as Quota[]
  return found
}
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 19)

/** Gives the subscription of a user of the seed a quota by month of which some is used. */
async function use(n: number, gb: number, usedGb: number, resetsInDays = 9): Promise<void> {
  await panel.admin(`/subscriptions/${uuidOf(n)}`, { quota_gb: gb, quota_period: 'month' }, 'PATCH')
  panel.area.write(
    'update subscriptions set used_bytes = ?, resets_at = ?, limited_at = ? where uuid = ?',
    usedGb * GB,
    inDays(resetsInDays),
    usedGb < gb ? null : inDays(-1),
    uuidOf(n),
  )
}

const planRow = (page: Page, label: string) => page.locator('.plan-row').filter({ hasText: label })
const rowOf = (page: Page, name: string) => rows(page).filter({ hasText: name })
const filters = (page: Page) => page.getByRole('group', { name: 'State' })

test('without quotas no screen says anything of them', async () => {
  const page = await panel.open({ hash: '#/subscriptions' })
  await rows(page).first().waitFor()
  expect(await filters(page).getByRole('button').allTextContents()).toEqual([
    ...['All', 'Active', 'On hold', 'Switched off', 'Expired', 'Revoked'],
  ])
  expect(await page.locator('.usage').count()).toBe(0)
  await visit(page, '/plans')
  await planRow(page, '30 days').waitFor()
  expect(await page.getByText(/\bGB\b/).count()).toBe(0)
  await visit(page, '/nodes')
  await page.locator('.node-row').first().waitFor()
  expect(await page.getByText(/×/).count()).toBe(0)
  await close(page)
})

test('a plan is sold with traffic and for more devices, and without again', async () => {
  const page = await panel.open({ hash: '#/plans', runtime: 'bun' })
  await button(page, 'Add a plan').click()
  await field(page, 'Code').fill('big')
  await field(page, 'Name').fill('Big')
  await field(page, 'Price').fill('300')
  expect(await dialog(page).getByLabel('Counts from 0 again').count()).toBe(0)
  await field(page, 'Traffic').fill('0')
  await field(page, 'Devices').fill('5')
  await choose(page, 'Counts from 0 again', 'Monthly, on its own day')
  await answer(page, 'Add the plan')
  await dialog(page).getByRole('alert').waitFor()
  await field(page, 'Traffic').fill('1500')
  expect(await inspect(page, 'quota-plan-form')).toEqual([])
  await answer(page, 'Add the plan')
  await toast(page, 'Big is on sale')
  await planRow(page, 'Big').getByText('1,500 GB a month · up to 5 devices').waitFor()
  expect(await planOf('big')).toMatchObject({
    quota_gb: 1500,
    quota_period: 'rolling',
    hwid_limit: 5,
  })
  expect(await inspect(page, 'quota-plans')).toEqual([])

  await button(page, 'Edit Big').click()
  await choose(page, 'Counts from 0 again', 'Every day')
  await answer(page, 'Save')
  await planRow(page, 'Big').getByText('1,500 GB a day').waitFor()
  await button(page, 'Edit Big').click()
  await field(page, 'Traffic').fill('')
  await field(page, 'Devices').fill('')
  await answer(page, 'Save')
  await soon(() =>
    planRow(page, 'Big')
      .getByText(/GB|devices/)
      .count(),
  ).toBe(0)
  expect(await planOf('big')).toEqual(
    expect.not.objectContaining({ quota_gb: expect.anything(), hwid_limit: expect.anything() }),
  )
  await panel.admin('/plans/big', { hwid_limit: 7 }, 'PATCH')
  panel.area.write("update subscriptions set plan = 'big' where uuid = ?", uuidOf(0))
  await visit(page, `/users?user=${tgIdOf(0)}`)
  // The page knows the plan as it was.
  await page.reload()
  await dialog(page).getByText('Empty: as the plan has it, 7.').waitFor()
  await dialog(page).getByText('1 of 7', { exact: true }).waitFor()
  await panel.admin(
    '/plans/big',
    { hwid_limit: null, quota_gb: 100, quota_period: 'month' },
    'PATCH',
  )
  await close(page)
})

test('how much of a node counts is a factor; of an external one nothing does', async () => {
  const page = await panel.open({ hash: '#/nodes?node=live0', theme: 'dark' })
  const factor = page.getByLabel('How much of its traffic counts')
  expect(await factor.inputValue()).toBe('1')
  await factor.fill('11')
  await answer(page, 'Save')
  await dialog(page).getByText('From 0 to 10', { exact: true }).waitFor()
  await factor.fill('')
  await answer(page, 'Save')
  await dialog(page).getByText('From 0 to 10', { exact: true }).waitFor()
  await factor.fill('0.5')
  await answer(page, 'Save')
  await toast(page, 'Saved')
  await page.locator('.node-row', { hasText: 'Vilnius' }).getByText('traffic 0.5×').waitFor()
  const nodes = (await panel.admin('/nodes')) as { code: string; traffic_ratio?: number }[]
  expect(nodes.filter((node) => node.traffic_ratio !== undefined)).toMatchObject([
    { code: 'live0', traffic_ratio: 50 },
  ])
  expect(await inspect(page, 'quota-node')).toEqual([])
  await visit(page, '/nodes?node=nl1')
  await dialog(page).getByText('Its traffic is not measured').waitFor()
  expect(await factor.count()).toBe(0)
  await close(page)
})

test('a subscription shows what is used, and gets more', async () => {
  await use(1, 100, 12.5)
  const page = await panel.open({ hash: '#/subscriptions' })
  const usage = rowOf(page, '@kirill_m').locator('.usage')
  await usage.getByText('12.5 GB of 100 GB').waitFor()
  await usage.getByText(/^from 0 on /).waitFor()
  expect(await usage.locator('meter').getAttribute('value')).toBe('0.125')
  expect(await inspect(page, 'quota-subscriptions')).toEqual([])

  await act(page, 'the subscription of @kirill_m on Helsinki', 'Traffic')
  expect(await field(page, 'Traffic').inputValue()).toBe('100')
  await dialog(page).getByText('What is used stays counted: 12.5 GB.').waitFor()
  await field(page, 'Traffic').fill('50')
  await field(page, 'On top of it').fill('10')
  await choose(page, 'Counts from 0 again', 'Every Monday')
  expect(await inspect(page, 'quota-traffic')).toEqual([])
  await answer(page, 'Save')
  await toast(page, 'Saved')
  await usage.getByText('12.5 GB of 60 GB').waitFor()
  expect(await quotaOf(1)).toMatchObject({
    quota_bytes: 50 * GB,
    quota_period: 'week',
    extra_bytes: 10 * GB,
  })

  await act(page, 'the subscription of @kirill_m on Helsinki', 'Traffic')
  await field(page, 'Traffic').fill('')
  await answer(page, 'Save')
  await soon(() => usage.count()).toBe(0)
  expect(await quotaOf(1)).not.toHaveProperty('quota_bytes')

  // From no limit to one.
  await act(page, 'the subscription of @kirill_m on Helsinki', 'Traffic')
  await field(page, 'Traffic').fill('7')
  await answer(page, 'Save')
  await usage.getByText('0 B of 7 GB').waitFor()
  expect(await quotaOf(1)).toMatchObject({ quota_bytes: 7 * GB, quota_period: 'month' })
  await close(page)
})

test('whose traffic is used up is found, counted apart, and served again by a reset', async () => {
  await use(4, 20, 20)
  const page = await panel.open({ hash: '#/', runtime: 'bun', width: 390, theme: 'dark' })
  await page.getByText(/^1 without traffic, /).waitFor()
  await visit(page, '/subscriptions')
  await filters(page).getByRole('button', { name: 'Used up' }).click()
  await soon(() => rows(page).count()).toBe(1)
  const row = rowOf(page, '@sam')
  await row.getByText('Used up').waitFor()
  await row.getByText('20 GB of 20 GB').waitFor()
  expect(await inspect(page, 'quota-subscriptions-phone')).toEqual([])
  await visit(page, `/subscriptions?user=${tgIdOf(4)}`)
  await dialog(page).getByText('20 GB of 20 GB').waitFor()
  expect(await inspect(page, 'quota-card-phone')).toEqual([])
  await dialog(page)
    .getByRole('button', { name: /^Actions for the subscription of @sam/ })
    .click()
  expect(await page.getByRole('menuitem', { name: 'Put on hold' }).count()).toBe(1)
  await page.getByRole('menuitem', { name: 'Reset traffic' }).click()
  await dialog(page).getByText('the 20 GB used of its quota').waitFor()
  await answer(page, 'Reset traffic')
  await toast(page, /^Traffic starts from 0/)
  expect(await quotaOf(4)).toMatchObject({ used_bytes: 0, limited_at: null })
  await close(page)
})

test('a fault stands at its field, in Russian too', async () => {
  await use(7, 30, 25)
  const page = await panel.open({ hash: '#/subscriptions', width: 390, lang: 'ru' })
  const usage = rowOf(page, '@oleg').locator('.usage')
  await usage.getByText('25 ГБ из 30 ГБ').waitFor()
  expect(await inspect(page, 'quota-subscriptions-phone-ru')).toEqual([])
  // A menu closes when the page scrolls, as it may for the click.
  const menu = button(page, /^Действия: подписка @oleg/)
  await menu.focus()
  await menu.press('Enter')
  await page.getByRole('menuitem', { name: 'Трафик', exact: true }).click()
  await field(page, 'Трафик').fill('0')
  await answer(page, 'Сохранить')
  await dialog(page).getByRole('alert').waitFor()
  expect(await inspect(page, 'quota-traffic-phone-ru')).toEqual([])
  await answer(page, 'Отмена')
  await close(page)
  const dark = await panel.open({ hash: '#/plans', lang: 'ru', theme: 'dark', runtime: 'bun' })
  await planRow(dark, 'Big').getByText('100 ГБ в месяц').waitFor()
  await button(dark, 'Изменить «Big»').click()
  expect(await inspect(dark, 'quota-plan-form-ru')).toEqual([])
  await close(dark)
})

test('nothing was done that a page must not do, in all circumstances', () => {
  expect(panel.faults).toEqual([])
  expect(missingPairs()).toEqual([])
})
