/** Customers who need not be on Telegram, in the panel: made, found, edited, given access. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  answer,
  button,
  choose,
  close,
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
import { tgIdOf } from '#test/support/browser/panel-seed.ts'

const ANNA = tgIdOf(0)

let panel: PanelBrowser
beforeAll(async () => {
  panel = await openPanel({ runtime: 'bun', seed: { users: 12 } })
})
afterAll(() => panel.close())

const dialogOf = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true })

describe('a customer without Telegram', () => {
  test('is made by a form that keeps what was typed when it is refused, and found by name, address and tag', async () => {
    const page = await panel.open({ hash: '#/users', runtime: 'node' })
    await button(page, 'New customer').click()
    const form = dialogOf(page, 'New customer')
    await form.waitFor()
    await field(page, 'Name').fill('Vera Berg')
    await field(page, 'E-mail').fill('vera at example.com')
    await field(page, 'Tags').fill('vip, from the old shop')
    await field(page, 'Telegram id').fill('1e9')
    await field(page, 'Note').fill('pays by invoice')
    await answer(page, 'Create')
    await form.getByText('must be an e-mail address').waitFor()
    await field(page, 'E-mail').fill('Vera@example.com')
    await answer(page, 'Create')
    await form.getByText(/must be a/).waitFor()
    expect(await field(page, 'Name').inputValue()).toBe('Vera Berg')
    await field(page, 'Telegram id').fill(String(ANNA))
    await answer(page, 'Create')
    await form.getByText('is taken').waitFor()
    expect(await inspect(page, 'user-new')).toEqual([])
    await field(page, 'Telegram id').fill('')
    await answer(page, 'Create')
    await toast(page, 'The customer is there')

    const card = dialogOf(page, 'Vera Berg')
    await card.getByText('none: they get no messages').waitFor()
    const number = /user=(-\d+)/.exec(page.url())?.[1] ?? ''
    expect(Number(number)).toBeLessThan(0)
    await soon(() => card.getByRole('textbox', { name: 'Note' }).inputValue()).toBe(
      'pays by invoice',
    )
    expect(await card.getByRole('region', { name: 'Customer' }).innerText()).toContain(
      'vera@example.com',
    )
    expect(await inspect(page, 'user-card-customer')).toEqual([])
    await card.getByRole('link', { name: 'vip' }).click()
    await soon(() => page.url()).toContain('tag=vip')
    await soon(() => rows(page).count()).toBe(1)
    expect(await rows(page).innerText()).toMatch(/Vera Berg[\s\S]*vip, from the old shop/)
    await page.getByLabel('Tag', { exact: true }).selectOption({ label: 'Any tag' })
    await soon(() => rows(page).count()).toBe(13)
    for (const text of ['vera b', 'vera@ex', number]) {
      await page.getByRole('searchbox').fill(text)
      await soon(() => rows(page).allInnerTexts()).toEqual([expect.stringContaining('Vera Berg')])
    }
    expect(await inspect(page, 'users-customer')).toEqual([])
    await close(page)
  })

  test('is edited in the card, on a phone; what is emptied is gone', async () => {
    const { tg_id } = (await panel.admin('/users', {
      name: 'Nina',
      email: 'nina@example.com',
      tags: ['old'],
    })) as { tg_id: number }
    const page = await panel.open({
      hash: `#/users?user=${tg_id}`,
      width: 390,
      lang: 'ru',
      theme: 'dark',
    })
    const card = dialogOf(page, 'Nina')
    await card.getByText('нет: сообщения не придут').waitFor()
    await card.getByRole('button', { name: 'Изменить', exact: true }).click()
    await dialogOf(page, 'Изменить Nina').waitFor()
    expect(await inspect(page, 'user-edit-phone-ru-dark')).toEqual([])
    await field(page, 'Имя').fill('Nina K')
    await field(page, 'Эл. почта').fill('')
    await field(page, 'Метки').fill('new, new')
    await field(page, 'Telegram id').fill('4242')
    await answer(page, 'Сохранить')
    await page.getByRole('alert').waitFor()
    await field(page, 'Метки').fill('new')
    await answer(page, 'Сохранить')
    await toast(page, 'Сохранено')
    await dialogOf(page, 'Nina K').getByText('4242').waitFor()
    const [row] = (await panel.admin(`/users?q=${tg_id}`)) as object[]
    expect(row).toMatchObject({ name: 'Nina K', email: null, tags: ['new'], telegram_id: 4242 })
    await close(page)
    // The card is theirs by the Telegram id too, with all of its parts.
    const again = await panel.open({ hash: '#/users?user=4242', theme: 'dark' })
    await dialogOf(again, 'Nina K').getByText('Ban and deletion').waitFor()
    await close(again)
  })

  test('has no Telegram id to change when they came by Telegram, and a name beside that of Telegram', async () => {
    const page = await panel.open({ hash: `#/users?user=${tgIdOf(5)}`, width: 390 })
    const card = dialogOf(page, '@lena')
    await card.getByRole('button', { name: 'Edit', exact: true }).click()
    expect(await dialogOf(page, 'Edit @lena').getByLabel('Telegram id').count()).toBe(0)
    await field(page, 'Name').fill('Lena Ohm')
    await answer(page, 'Save')
    await toast(page, 'Saved')
    await card.getByText('Lena Ohm').waitFor()
    await page.keyboard.press('Escape')
    await rows(page)
      .getByText(`Lena Ohm · ${tgIdOf(5)}`)
      .waitFor()
    await close(page)
    const list = await panel.open({ hash: '#/users', runtime: 'node', theme: 'dark', lang: 'ru' })
    await rows(list)
      .getByText(`Lena Ohm · ${tgIdOf(5)}`)
      .waitFor()
    expect(await inspect(list, 'users-names-ru-dark')).toEqual([])
    await close(list)
  })

  test('is given access and a payment link by the number below 0', async () => {
    const { tg_id } = (await panel.admin('/users', { name: 'Given' })) as { tg_id: number }
    const page = await panel.open({ hash: '#/users', runtime: 'node', width: 390, lang: 'ru' })
    await button(page, 'Выдать доступ').first().click()
    await field(page, 'Telegram id').fill(String(tg_id))
    await choose(page, 'Сервер', 'Helsinki')
    const plans = (await panel.admin('/plans')) as { label: string }[]
    await choose(page, 'Тариф', plans[0]?.label ?? '')
    await answer(page, 'Выдать доступ')
    await toast(page, 'Доступ к серверу «Helsinki» до')
    await dialogOf(page, 'Given').waitFor()
    expect(await panel.admin(`/users/${tg_id}`)).toMatchObject({ subscriptions: [{ node: 'fi1' }] })
    await page.keyboard.press('Escape')
    await visit(page, '/payments')
    await button(page, 'Ссылка на оплату').first().click()
    await field(page, 'Telegram id').fill(String(tg_id))
    await field(page, 'Продлевает').selectOption({ label: `Helsinki, ${plans[0]?.label} (Given)` })
    await close(page)
  })
})

test('nothing broke the policy, failed in the console or asked others', () => {
  expect(panel.faults).toEqual([])
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
