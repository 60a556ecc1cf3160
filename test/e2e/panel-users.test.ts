import { readFileSync } from 'node:fs'
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
  type PanelBrowser,
  rows,
  scanned,
  screenshot,
  soon,
  toast,
} from '#test/support/browser/panel-browser.ts'
import { tgIdOf, uuidOf } from '#test/support/browser/panel-seed.ts'

const ANNA = tgIdOf(0)
const SAM = tgIdOf(4)
const OLEG = tgIdOf(7)

let panel: PanelBrowser
beforeAll(async () => {
  panel = await openPanel({ runtime: 'bun', seed: { users: 120 } })
})
afterAll(() => panel.close())

interface Card {
  token: string
  hwid_limit: number | null
  devices: unknown[]
  subscriptions: {
    uuid: string
    node: string
    active: boolean
    held_at: string | null
    expires_at: string
    up: number
    down: number
  }[]
}

const cardOf = (tgId: number) => panel.admin(`/users/${tgId}`) as Promise<Card>

describe('the list of users', () => {
  test('is found, filtered, sorted and paged by the service, and the address keeps it', async () => {
    const page = await panel.open({ hash: '#/users' })
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor()
    await page.getByText('120 users').waitFor()
    expect(await rows(page).count()).toBe(50)
    expect(await inspect(page, 'users-light')).toEqual([])

    const first = await rows(page).first().textContent()
    await button(page, 'Next').click()
    await soon(() => rows(page).first().textContent()).not.toBe(first)
    expect(page.url()).toContain('cursor=')
    const second = await rows(page).first().textContent()
    await button(page, 'Next').click()
    await soon(() => rows(page).count()).toBe(20)
    await button(page, 'Previous').click()
    await soon(() => rows(page).first().textContent()).toBe(second)

    await page.getByRole('searchbox', { name: 'Name, Telegram id' }).fill('kirill')
    await soon(() => page.url()).toContain('q=kirill')
    await soon(() => rows(page).allTextContents()).toSatisfy(
      (all: string[]) => all.length > 0 && all.every((text) => text.includes('@kirill_m')),
    )
    expect(page.url()).not.toContain('cursor=')

    await button(page, 'On hold').click()
    await soon(() => rows(page).count()).toBe(1)
    expect(await rows(page).first().textContent()).toContain('@kirill_m25')
    await page.reload()
    await soon(() => rows(page).allTextContents()).toHaveLength(1)
    expect(await page.getByRole('searchbox').inputValue()).toBe('kirill')

    await page.getByRole('searchbox').fill('nobody of that name')
    await page.getByText('Nothing found').waitFor()
    expect(await inspect(page, 'users-empty')).toEqual([])
    await button(page, 'Clear filters').click()
    await soon(() => rows(page).count()).toBe(50)

    const order = page.getByRole('columnheader', { name: 'User' }).getByRole('button')
    await order.click()
    await soon(() => rows(page).first().textContent()).toContain(String(tgIdOf(119)))
    await order.click()
    await soon(() => rows(page).first().textContent()).toContain(String(ANNA))
    await close(page)
  })

  test('is saved as a table with its filters', async () => {
    const page = await panel.open({ hash: '#/users?q=kirill', lang: 'ru' })
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV' }).click(),
    ])
    const text = readFileSync(await download.path(), 'utf8')
    expect(download.suggestedFilename()).toMatch(/^users-.*\.csv$/)
    const lines = text.trim().split(/\r?\n/)
    expect(lines[0]).toContain('tg_id')
    // n = 1, 9, 17, …, 113, of which every ninth has no name
    expect(lines.slice(1).every((line) => line.includes('kirill_m'))).toBe(true)
    expect(lines.length - 1).toBe(13)
    await close(page)
  })

  test('grants, extends, bans and unbans those who are selected, and keeps those who were refused', async () => {
    const page = await panel.open({ hash: '#/users?sort=tg_id&order=asc' })
    await page.getByRole('checkbox', { name: 'Select @sam', exact: true }).check()
    await page.getByRole('checkbox', { name: 'Select @oleg', exact: true }).check()
    await page.getByText('2 selected').waitFor()
    await page.locator('.bulk').getByRole('button', { name: 'Grant' }).click()
    await page.getByRole('dialog', { name: 'Grant access to 2 users' }).waitFor()
    await answer(page, 'Grant access')
    await page
      .getByRole('dialog')
      .getByText(/unknown node|must be/)
      .waitFor()
    await choose(page, 'Node', 'Helsinki')
    await choose(
      page,
      'Plan',
      ((await panel.admin('/plans')) as { label: string }[])[0]?.label ?? '',
    )
    expect(await inspect(page, 'users-bulk-grant')).toEqual([])
    await answer(page, 'Grant access')
    await toast(page, 'Done for 2 users')
    expect((await cardOf(SAM)).subscriptions).toHaveLength(2)

    // mila_r (n = 3) has nothing but what has ended
    await page.getByRole('checkbox', { name: 'Select @sam', exact: true }).check()
    await page.getByRole('checkbox', { name: 'Select @mila_r', exact: true }).check()
    const before = (await cardOf(SAM)).subscriptions.map((one) => one.expires_at)
    await page.locator('.bulk').getByRole('button', { name: 'Extend' }).click()
    await page.getByLabel('Days').fill('0')
    await answer(page, 'Extend')
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Days').fill('10')
    await answer(page, 'Extend')
    await page.getByRole('dialog', { name: 'Not done for 1 user' }).waitFor()
    await page.getByText('no active or held subscription').waitFor()
    await answer(page, 'Done')
    await page.locator('.bulk').getByText('1 selected').waitFor()
    const after = (await cardOf(SAM)).subscriptions.map((one) => one.expires_at)
    expect(Date.parse(after[0] ?? '') - Date.parse(before[0] ?? '')).toBe(10 * 86_400_000)

    await page.locator('.bulk').getByRole('button', { name: 'Ban', exact: true }).click()
    await page.getByRole('dialog', { name: 'Ban 1 user?' }).waitFor()
    await answer(page, 'Ban')
    await toast(page, 'Done for 1 user')
    await page.getByLabel('Ban', { exact: true }).selectOption({ label: 'Banned' })
    await soon(() => rows(page).count()).toBe(1)
    await page.getByRole('checkbox', { name: 'Select @mila_r' }).check()
    await page.locator('.bulk').getByRole('button', { name: 'Lift ban' }).click()
    await answer(page, 'Lift ban')
    await page.getByText('Nothing found').waitFor()
    await close(page)
  })

  test('is usable on a phone, in Russian and in the dark', async () => {
    const page = await panel.open({
      hash: '#/users',
      runtime: 'node',
      width: 390,
      lang: 'ru',
      theme: 'dark',
    })
    await page.getByRole('heading', { name: 'Пользователи', level: 1 }).waitFor()
    await soon(() => rows(page).count()).toBe(50)
    await screenshot(page, 'users-phone-ru-dark-top', false)
    expect(await inspect(page, 'users-phone-ru-dark')).toEqual([])
    await page.getByText('@lena', { exact: true }).click()
    await page.getByRole('dialog', { name: '@lena' }).getByText('Ссылка подписки').first().waitFor()
    await page.getByText('Блокировка и удаление').waitFor()
    await screenshot(page, 'user-card-phone-ru-dark-top', false)
    expect(await inspect(page, 'user-card-phone-ru-dark')).toEqual([])
    await page.keyboard.press('Escape')
    await button(page, 'Выдать доступ').first().click()
    await field(page, 'Telegram id').fill('abc')
    await answer(page, 'Выдать доступ')
    await page.getByRole('dialog').getByText('нужно целое число больше нуля').waitFor()
    await field(page, 'Telegram id').fill(String(SAM))
    await answer(page, 'Выдать доступ')
    await page.getByRole('dialog').getByText('Выберите сервер: такого нет').waitFor()
    expect(await inspect(page, 'refusal-phone-ru-dark')).toEqual([])
    await close(page)
  })
})

describe('the card of a user', () => {
  test('opens by its address and closes by Escape; the link is copied, scanned, replaced', async () => {
    const page = await panel.open({ hash: `#/users?user=${ANNA}` })
    const dialog = page.getByRole('dialog', { name: '@anna' })
    await dialog.waitFor()
    await dialog.getByText('Ban and deletion').waitFor()
    expect(await inspect(page, 'user-card-light')).toEqual([])
    const { token } = await cardOf(ANNA)
    const link = dialog.getByRole('textbox', { name: 'Subscription link' })
    expect(await link.inputValue()).toMatch(new RegExp(`/sub/${token}$`))
    await dialog.getByRole('button', { name: 'Copy: Subscription link' }).click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await link.inputValue())
    await dialog.getByRole('button', { name: 'QR code' }).click()
    const code = dialog.getByRole('img', { name: 'Subscription link' })
    expect(await scanned(code)).toBe(await link.inputValue())
    await screenshot(page, 'user-card-qr', false)

    const next = Promise.withResolvers<void>()
    await page.route('**/admin/api/qr', async (route) => {
      await next.promise
      await route.continue()
    })
    await dialog.getByRole('button', { name: 'New link' }).click()
    await page.getByRole('dialog', { name: 'Give @anna a new link?' }).waitFor()
    expect(await inspect(page, 'user-card-confirm')).toEqual([])
    await answer(page, 'New link')
    await toast(page, 'The new link is here')
    await soon(() => link.inputValue()).not.toContain(token)
    expect((await cardOf(ANNA)).token).not.toBe(token)
    // The code of the old link is gone before the one of the new link is there.
    expect(await code.count()).toBe(0)
    next.resolve()
    expect(await scanned(code)).toBe(await link.inputValue())

    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(page.url()).not.toContain('user=')
    await close(page)
  })

  test('grants, holds, resumes, extends, edits, resets and revokes subscriptions', async () => {
    const page = await panel.open({ hash: `#/users?user=${OLEG}`, theme: 'dark' })
    const dialog = page.getByRole('dialog', { name: '@oleg' })
    await dialog.getByText('Ban and deletion').waitFor()
    expect(await inspect(page, 'user-card-dark')).toEqual([])
    const act = async (item: string) => {
      await dialog
        .getByRole('button', { name: /^Actions for the subscription of @oleg/ })
        .last()
        .click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    const last = async () => (await cardOf(OLEG)).subscriptions.at(-1)

    await act('Put on hold')
    await page
      .getByRole('dialog', { name: /^Put the subscription of @oleg on .* on hold\?$/ })
      .waitFor()
    await answer(page, 'Put on hold')
    await toast(page, 'On hold')
    expect((await last())?.held_at).not.toBeNull()
    await dialog.getByText('the clock stands still').waitFor()
    await act('Resume')
    await toast(page, 'Runs again')
    expect((await last())?.held_at).toBeNull()

    const ends = (await last())?.expires_at ?? ''
    await act('Extend')
    await button(page, '90 days').last().click()
    await answer(page, 'Extend')
    await toast(page, 'Extended until')
    expect(Date.parse((await last())?.expires_at ?? '') - Date.parse(ends)).toBe(90 * 86_400_000)
    // As people count: the day that has begun is one.
    const left = Date.parse(`${(await last())?.expires_at}Z`) - Date.now()
    await dialog
      .getByText(`${Math.ceil(left / 86_400_000)} days left`)
      .first()
      .waitFor()

    await act('Change the end')
    // Only one that has passed is warned of.
    await page.getByLabel('Ends at').fill('2020-01-01T00:00')
    await page.getByText('This moment has passed').waitFor()
    await button(page, 'End access now').waitFor()
    await page.getByLabel('Ends at').fill('2031-05-06T07:08')
    const hint = await page.getByText(/^Time zone /).textContent()
    const zone = hint?.replace('Time zone ', '')
    expect(await inspect(page, 'subscription-edit')).toEqual([])
    await answer(page, 'Save')
    await toast(page, 'Ends May 6, 2031')
    const shown = new Date(`${(await last())?.expires_at}Z`)
    expect(shown.toLocaleString('sv-SE', { timeZone: zone })).toBe('2031-05-06 07:08:00')

    const traffic = async () => ((one) => [one?.up, one?.down])(await last())
    // n = 7
    expect(await traffic()).toEqual([7 * 7_340_032, 7 * 104_857_600])
    await act('Reset traffic')
    await answer(page, 'Reset traffic')
    await toast(page, 'Traffic starts from 0')
    expect(await traffic()).toEqual([0, 0])
    await act('Revoke')
    await answer(page, 'Revoke')
    await toast(page, 'Revoked')
    expect((await last())?.active).toBe(false)

    await dialog.getByRole('button', { name: 'Grant access' }).click()
    await choose(page, 'Node', 'Amsterdam')
    await choose(
      page,
      'Plan',
      ((await panel.admin('/plans')) as { label: string }[])[1]?.label ?? '',
    )
    await answer(page, 'Grant access')
    await toast(page, 'Access to Amsterdam until')
    expect((await cardOf(OLEG)).subscriptions.some((one) => one.node === 'nl1' && one.active)).toBe(
      true,
    )
    await close(page)
  })

  test('removes devices, limits them, notes, bans and deletes', async () => {
    const page = await panel.open({ hash: `#/users?user=${SAM}` })
    const dialog = page.getByRole('dialog', { name: '@sam' })
    await dialog.getByRole('button', { name: 'Remove Pixel 9, Android' }).click()
    await page.getByRole('dialog', { name: 'Remove Pixel 9, Android of @sam?' }).waitFor()
    await answer(page, 'Remove')
    await toast(page, 'Device removed')
    await dialog.getByText('No device has asked').waitFor()
    expect((await cardOf(SAM)).devices).toEqual([])

    await dialog.getByLabel('Device limit').fill('99999999')
    await dialog.locator('.limit').getByRole('button', { name: 'Save' }).click()
    await dialog.getByText(/a whole number/).waitFor()
    expect(await dialog.getByLabel('Device limit').inputValue()).toBe('99999999')
    await dialog.getByLabel('Device limit').fill('3')
    await dialog.locator('.limit').getByRole('button', { name: 'Save' }).click()
    await toast(page, 'Limit saved')
    expect((await cardOf(SAM)).hwid_limit).toBe(3)

    await dialog.getByRole('textbox', { name: 'Note' }).fill('pays in cash')
    await dialog.getByRole('region', { name: 'Note' }).getByRole('button', { name: 'Save' }).click()
    await toast(page, 'Note saved')
    await dialog.getByRole('button', { name: 'Ban', exact: true }).click()
    await page.getByRole('dialog', { name: 'Ban @sam?' }).waitFor()
    await answer(page, 'Ban')
    await dialog.getByText('Banned since').waitFor()
    const [row] = (await panel.admin(`/users?q=${SAM}`)) as { note: string; banned_at: string }[]
    expect(row).toMatchObject({ note: 'pays in cash', banned_at: expect.any(String) })
    await dialog.getByRole('button', { name: 'Lift the ban' }).click()
    await toast(page, 'The ban is lifted')

    await dialog.getByRole('button', { name: 'Delete user' }).click()
    expect(
      await page
        .getByRole('dialog', { name: 'Delete @sam?' })
        .getByRole('button', { name: 'Delete user' })
        .isDisabled(),
    ).toBe(true)
    await page.getByLabel('Type @sam to confirm').fill('@sam')
    await answer(page, 'Delete user')
    await toast(page, '@sam is deleted')
    await dialog.waitFor({ state: 'detached' })
    await expect(cardOf(SAM)).rejects.toThrow('404')
    await close(page)
  })

  test('of nobody says so', async () => {
    const page = await panel.open({ hash: '#/users?user=5', runtime: 'node', width: 390 })
    await page.getByRole('dialog', { name: 'User 5' }).getByText('user not found').waitFor()
    expect(await inspect(page, 'user-card-unknown')).toEqual([])
    await close(page)
  })
})

describe('the subscriptions', () => {
  test('are filtered by state, node, plan and end, and open their user', async () => {
    const page = await panel.open({ hash: '#/subscriptions', runtime: 'node' })
    await page.getByRole('heading', { name: 'Subscriptions', level: 1 }).waitFor()
    await soon(() => rows(page).count()).toBe(50)
    expect(await inspect(page, 'subscriptions-light')).toEqual([])
    await button(page, 'Revoked').click()
    await soon(() => rows(page).allTextContents()).toSatisfy(
      (all: string[]) => all.length > 0 && all.every((text) => text.includes('Revoked')),
    )
    await button(page, 'All').click()
    await page.getByLabel('Node', { exact: true }).selectOption({ label: 'Helsinki' })
    await page.getByLabel('Ends', { exact: true }).selectOption({ label: 'Ends within 7 days' })
    await soon(() => page.url()).toContain('ends=7')
    const found = (await panel.admin(
      `/subscriptions?status=active&node=fi1&expires_before=${new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 19)}`,
    )) as unknown[]
    // The list before this one was of Helsinki too, and longer.
    await soon(() => rows(page).count()).toBe(found.length)
    expect(await rows(page).allTextContents()).toSatisfy(
      (all: string[]) => all.length > 0 && all.every((text) => text.includes('Helsinki')),
    )
    await rows(page).first().click()
    await page.getByRole('dialog').getByText('Subscription link').first().waitFor()
    expect(page.url()).toContain('ends=7')
    await close(page)
  })

  test('have the actions of the card in their rows', async () => {
    const page = await panel.open({ hash: `#/subscriptions?tg_id=${tgIdOf(5)}`, theme: 'dark' })
    await soon(() => rows(page).count()).toBe(1)
    expect(await inspect(page, 'subscriptions-user-dark')).toEqual([])
    await rows(page)
      .getByRole('button', { name: /^Actions for/ })
      .click()
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await answer(page, 'Put on hold')
    await rows(page).getByText('On hold').waitFor()
    const [one] = (await cardOf(tgIdOf(5))).subscriptions
    expect(one).toMatchObject({ uuid: uuidOf(5), held_at: expect.any(String) })
    await button(page, /show all users/).click()
    await soon(() => rows(page).count()).toBe(50)
    await close(page)
    const phone = await panel.open({ hash: '#/subscriptions', width: 390, lang: 'ru' })
    await soon(() => rows(phone).count()).toBe(50)
    await screenshot(phone, 'subscriptions-phone-ru-top', false)
    expect(await inspect(phone, 'subscriptions-phone-ru')).toEqual([])
    await close(phone)
  })
})

test('nothing broke the policy, failed in the console or asked others', () => {
  expect(panel.faults).toEqual([])
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
