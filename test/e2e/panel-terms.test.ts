/** What the panel shows and does of subscriptions that have no end. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  act,
  answer,
  choose,
  close,
  inspect,
  openPanel,
  type PanelBrowser,
  rows,
  soon,
  toast,
} from '#test/support/browser/panel-browser.ts'
import { tgIdOf } from '#test/support/browser/panel-seed.ts'

let panel: PanelBrowser
beforeAll(async () => {
  panel = await openPanel({ runtime: 'node', seed: { users: 12 } })
})
afterAll(() => panel.close())

interface Card {
  subscriptions: { uuid: string; expires_at: string; endless?: true; start_by?: string }[]
}

const cardOf = (tgId: number) => panel.admin(`/users/${tgId}`) as Promise<Card>

test('access without end is given, shown, and given an end again', async () => {
  const user = tgIdOf(2)
  const [plan] = (await panel.admin('/plans')) as { label: string }[]
  const page = await panel.open({ hash: `#/users?user=${user}` })
  const card = page.getByRole('dialog', { name: '@d_volkov' })
  await card.getByRole('button', { name: 'Grant access' }).click()
  await choose(page, 'Node', 'Helsinki')
  await choose(page, 'Plan', plan?.label ?? '')
  await page.getByRole('dialog').last().getByLabel('Without end').check()
  expect(await inspect(page, 'grant-without-end')).toEqual([])
  await answer(page, 'Grant access')
  await toast(page, 'Access to Helsinki without end')
  const [given] = (await cardOf(user)).subscriptions
  expect(given).toMatchObject({ endless: true, expires_at: '9999-12-31T23:59:59' })
  await card.getByText('Without end', { exact: true }).waitFor()
  await close(page)

  const list = await panel.open({ hash: `#/subscriptions?tg_id=${user}&node=fi1` })
  await rows(list).getByText('Without end').waitFor()
  const name = 'the subscription of @d_volkov on Helsinki'
  await list.getByRole('button', { name: `Actions for ${name}` }).click()
  expect(await list.getByRole('menuitem', { name: 'Extend' }).count()).toBe(0)
  await list.keyboard.press('Escape')
  await act(list, name, 'Change the end')
  const dialog = list.getByRole('dialog', { name: `Change the end of ${name}` })
  await dialog.getByLabel('Without end').uncheck()
  await dialog.getByLabel('Ends at').fill('2031-05-06T10:00')
  await answer(list, 'Save')
  await toast(list, 'Ends May 6, 2031')
  expect((await cardOf(user)).subscriptions[0]).not.toHaveProperty('endless')
  await close(list)
})

test('a plan without end is made without a price, and not priced', async () => {
  const page = await panel.open({ hash: '#/plans', lang: 'ru' })
  await page.getByRole('button', { name: 'Добавить тариф' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Код').fill('ever')
  await dialog.getByLabel('Название').fill('Навсегда')
  await dialog.getByLabel('Срок').fill('0')
  await dialog.getByLabel('Цена', { exact: true }).fill('5')
  await dialog.getByRole('button', { name: 'Добавить', exact: false }).last().click()
  await dialog.getByText('от 1 до 3650').waitFor()
  await dialog.getByLabel('Цена', { exact: true }).fill('0')
  await dialog.getByRole('button', { name: 'Добавить', exact: false }).last().click()
  await soon(async () => page.getByText('не продаётся').count()).toBe(1)
  await page.getByText('без срока').waitFor()
  await close(page)
})

test('access from the first use on is given, and shown so until it comes', async () => {
  const user = tgIdOf(4)
  const [plan] = (await panel.admin('/plans')) as { label: string }[]
  const page = await panel.open({ hash: `#/users?user=${user}`, width: 390 })
  const card = page.getByRole('dialog').first()
  await card.getByRole('button', { name: 'Grant access' }).click()
  await choose(page, 'Node', 'Helsinki')
  await choose(page, 'Plan', plan?.label ?? '')
  await page.getByRole('dialog').last().getByLabel('Starts with the first use').check()
  const latest = page.getByRole('dialog').last().getByLabel('Starts at the latest')
  await latest.fill('2020-01-01T10:00')
  expect(await inspect(page, 'grant-first-use')).toEqual([])
  await answer(page, 'Grant access')
  await page.getByText('must be in the future').waitFor()
  const by = `${new Date().getUTCFullYear() + 1}-05-06`
  await latest.fill(`${by}T10:00`)
  await answer(page, 'Grant access')
  await toast(page, 'Access to Helsinki, from the first use on')
  await card.getByText('Starts with the first use, 30 days,').waitFor()
  const [given] = (await cardOf(user)).subscriptions
  expect(given?.start_by?.slice(0, 10)).toBe(by)
  panel.area.write(
    "update subscriptions set started_at = '2026-01-01T00:00:00', start_by = null where uuid = ?",
    given?.uuid ?? '',
  )
  await page.reload()
  await card.getByText('days left').first().waitFor()
  expect(await card.getByText('Starts with the first use').count()).toBe(0)
  await close(page)
})

test('a subscription is switched off and on', async () => {
  const page = await panel.open({ hash: '#/subscriptions?status=active', theme: 'dark' })
  const [first] = (await panel.admin('/subscriptions?status=active&limit=1')) as {
    uuid: string
  }[]
  const menu = rows(page).first().getByRole('button', { name: 'Actions for' })
  await menu.click()
  await page.getByRole('menuitem', { name: 'Switch off' }).click()
  await page.getByRole('dialog').getByText('Its days run on').waitFor()
  await answer(page, 'Switch off')
  await toast(page, 'Switched off')
  await close(page)

  const list = await panel.open({ hash: '#/subscriptions?status=disabled' })
  await rows(list).getByText('Switched off').waitFor()
  expect(await inspect(list, 'subscriptions-disabled')).toEqual([])
  await rows(list).first().getByRole('button', { name: 'Actions for' }).click()
  await list.getByRole('menuitem', { name: 'Switch on' }).click()
  await toast(list, 'Switched on')
  const [again] = (await panel.admin('/subscriptions?status=active&limit=1')) as {
    uuid: string
  }[]
  expect(again?.uuid).toBe(first?.uuid)
  await close(list)
})

test('the days of a subscription become those of another plan, as many as were said before', async () => {
  const user = tgIdOf(6)
  await panel.admin('/plans/1m', { label: 'Basic', price: 300, days: 30 }, 'PATCH')
  await panel.admin('/plans', { code: 'big', label: 'Big', days: 30, price: 600, hwid_limit: 9 })
  const [given] = [await panel.admin(`/users/${user}/grant`, { node: 'fi1', plan: '1m' })] as {
    uuid: string
  }[]
  const page = await panel.open({ hash: `#/subscriptions?tg_id=${user}&node=fi1`, width: 390 })
  await rows(page).first().getByRole('button', { name: 'Actions for' }).click()
  await page.getByRole('menuitem', { name: 'Change the plan' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('New plan').selectOption('Big')
  await dialog.getByText(/^29 days · Basic → 14 days · Big, until /).waitFor()
  expect(await inspect(page, 'change-plan')).toEqual([])
  // Other days than were said are not given: they are said anew.
  await panel.admin('/plans/big', { price: 1200 }, 'PATCH')
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByText('The offer is another one by now').waitFor()
  await dialog.getByText(/^29 days · Basic → 7 days · Big, until /).waitFor()
  await answer(page, 'Change')
  await toast(page, 'Big now, until')
  const after = (await cardOf(user)).subscriptions.find(({ uuid }) => uuid === given?.uuid)
  expect(after).toMatchObject({ plan: 'big' })
  await rows(page).first().getByRole('button', { name: 'Actions for' }).click()
  await page.getByRole('menuitem', { name: 'Change the plan' }).click()
  await dialog.getByLabel('New plan').selectOption('Basic')
  await dialog.getByText('Too many attempts. Try again in 24 hours.').waitFor()
  await close(page)
})
