/** What must not happen twice or by surprise: access that is given, lengthened, moved, limited. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  act,
  answer,
  button,
  choose,
  close,
  inspect,
  missingPairs,
  openPanel,
  type Page,
  type PanelBrowser,
  rows,
  soon,
  toast,
} from '#test/support/browser/panel-browser.ts'
import { tgIdOf } from '#test/support/browser/panel-seed.ts'

const API = '/admin/api'

let panel: PanelBrowser
beforeAll(async () => {
  panel = await openPanel({ runtime: 'bun', seed: { users: 12 } })
})
afterAll(() => panel.close())

interface Card {
  subscriptions: { uuid: string; node: string; expires_at: string }[]
}

const cardOf = (tgId: number) => panel.admin(`/users/${tgId}`) as Promise<Card>

/** Once, the service does what is asked, and its answer is lost: on the way, or with a proxy that gave up. */
const loseAnswer = (page: Page, pattern: string, lost: 'on the way' | 'by a proxy') =>
  page.route(
    pattern,
    async (route) => {
      const asked = route.request()
      await panel.admin(new URL(asked.url()).pathname.slice(API.length), asked.postDataJSON())
      if (lost === 'on the way') await route.abort('connectionreset')
      else await route.fulfill({ status: 502, contentType: 'text/html', body: 'Bad Gateway' })
    },
    { times: 1 },
  )

test('nothing is given twice: not by a double tap, and after a lost answer not without asking', async () => {
  const user = tgIdOf(2)
  const page = await panel.open({ hash: `#/users?user=${user}`, width: 390, theme: 'dark' })
  const dialog = page.getByRole('dialog', { name: '@d_volkov' })
  const top = page.getByRole('dialog').last()
  const [plan] = (await panel.admin('/plans')) as { label: string }[]
  const count = async () => (await cardOf(user)).subscriptions.length
  const before = await count()
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname)
  })
  const fill = async () => {
    await dialog.getByRole('button', { name: 'Grant access' }).click()
    await choose(page, 'Node', 'Amsterdam')
    await choose(page, 'Plan', plan?.label ?? '')
  }
  await fill()
  // Both before the page is drawn again.
  await top.locator('form').evaluate((form: HTMLFormElement) => {
    form.requestSubmit()
    form.requestSubmit()
  })
  await toast(page, 'Access to Amsterdam until')
  expect(sent).toEqual([`${API}/users/${user}/grant`])
  expect(await count()).toBe(before + 1)

  await loseAnswer(page, '**/grant', 'on the way')
  await fill()
  await answer(page, 'Grant access')
  await top.getByText('it may have been done').waitFor()
  expect(await count()).toBe(before + 2)
  await answer(page, 'Grant access')
  await page.getByRole('dialog', { name: 'Send it again?' }).waitFor()
  expect(await inspect(page, 'grant-again-phone')).toEqual([])
  await answer(page, 'Cancel')
  expect([sent.length, await count()]).toEqual([2, before + 2])
  await answer(page, 'Grant access')
  await answer(page, 'Send again')
  await soon(count).toBe(before + 3)
  await close(page)

  const list = await panel.open({ hash: `#/users?q=${user}`, runtime: 'node', theme: 'dark' })
  await list.getByRole('checkbox', { name: 'Select @d_volkov', exact: true }).check()
  await list.locator('.bulk').getByRole('button', { name: 'Extend' }).click()
  const ends = async () => (await cardOf(user)).subscriptions.map((one) => one.expires_at)
  await loseAnswer(list, '**/users/bulk', 'by a proxy')
  const [end] = await ends()
  await answer(list, 'Extend')
  await list.getByRole('dialog').getByText('it may have been done').waitFor()
  const [extended] = await ends()
  expect(Date.parse(extended ?? '') - Date.parse(end ?? '')).toBe(7 * 86_400_000)
  await answer(list, 'Extend')
  await list.getByRole('dialog', { name: 'Send it again?' }).waitFor()
  await answer(list, 'Cancel')
  expect((await ends())[0]).toBe(extended)
  await close(list)
})

test('a limit of 0 devices is shown as what it is', async () => {
  panel.area.write('update users set hwid_limit = 0 where tg_id = ?', tgIdOf(0))
  const page = await panel.open({ hash: `#/users?user=${tgIdOf(0)}`, theme: 'dark', lang: 'ru' })
  const devices = page.getByRole('region', { name: 'Устройства' })
  await devices.getByText('1 из 0').waitFor()
  await devices.getByText('список не получит ни одно устройство').waitFor()
  expect(await devices.getByLabel('Лимит устройств').inputValue()).toBe('0')
  await close(page)
})

test('a subscription goes to another server, after it was told what that means', async () => {
  const user = tgIdOf(6)
  const page = await panel.open({ hash: `#/subscriptions?tg_id=${user}` })
  const [before] = (await cardOf(user)).subscriptions
  await act(page, 'the subscription of @artem on Amsterdam', 'Move to another server')
  const dialog = page.getByRole('dialog', {
    name: 'Move the subscription of @artem on Amsterdam',
  })
  const servers = dialog.getByLabel('New server')
  await soon(() => servers.getByRole('option').allTextContents()).toEqual([
    'Choose…',
    'Helsinki',
    'Istanbul',
  ])
  expect(await dialog.getByRole('button', { name: 'Move', exact: true }).isDisabled()).toBe(true)
  await servers.selectOption({ label: 'Helsinki' })
  await dialog.getByText('@artem leaves Amsterdam for Helsinki.').waitFor()
  await dialog.getByText('The link stays the same').waitFor()
  await dialog.getByText('Apps connect again once they refresh the list').waitFor()
  expect(await inspect(page, 'subscription-move')).toEqual([])
  await answer(page, 'Move to Helsinki')
  await toast(page, 'Moved to Helsinki')
  await rows(page).getByText('Helsinki').waitFor()
  expect((await cardOf(user)).subscriptions).toEqual([
    { ...before, node: 'fi1', node_label: 'Helsinki' },
  ])

  // From the card, on a phone and in Russian.
  const phone = await panel.open({
    hash: `#/users?user=${user}`,
    runtime: 'node',
    width: 390,
    lang: 'ru',
  })
  await button(phone, /^Действия: подписка @artem/)
    .last()
    .click()
  await phone.getByRole('menuitem', { name: 'Перенести на другой сервер' }).click()
  await choose(phone, 'Новый сервер', 'Istanbul')
  expect(await inspect(phone, 'subscription-move-phone-ru')).toEqual([])
  await answer(phone, 'Перенести на «Istanbul»')
  await toast(phone, 'Перенесена на «Istanbul»')
  expect((await cardOf(user)).subscriptions[0]).toMatchObject({ node: 'tr1' })
  await close(phone)
  await close(page)
})

test('nothing broke the policy, failed in the console or asked others', () => {
  expect(panel.faults).toEqual([])
})

test('the windows met runtimes, widths, themes and languages pair by pair', () => {
  expect(missingPairs()).toEqual([])
})
